/** A bundle of its own, so that a delivery reads it only where a rule of the preset may find something. */
export { rules } from '@secretlint/secretlint-rule-preset-recommend';
