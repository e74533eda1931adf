import { DeliveryError } from '../errors.ts';
import { SECOND, TEXT } from '../protocol/limits.ts';
import type { Text } from '../words.ts';

/** @throws {DeliveryError} `BAD_INPUT`, always. */
export const refuseInput = (message: Text, hint: Text): never => {
  throw new DeliveryError('BAD_INPUT', message, { step: 'check', hint });
};

/** Turns a text into a value. @param name the input, for the message of a refusal */
export type ParseInput<Value> = (text: string, name: string) => Value;

export interface InputKind<Value> {
  /** Used if the user sets nothing. The runner resolves an expression. */
  readonly default: string;
  readonly json: 'string' | 'number' | 'boolean';
  readonly parse: ParseInput<Value>;
}

/** A boolean as YAML 1.2 writes it. */
function parseBoolean(text: string, name: string): boolean {
  if (/^(true|True|TRUE)$/.test(text.trim())) return true;
  if (/^(false|False|FALSE)$/.test(text.trim())) return false;
  return refuseInput(
    (w) => `${w.subject(name)} is neither true nor false`,
    (w) => `set ${w.input(name, 'true')} or ${w.input(name, 'false')}`,
  );
}

export const ON: InputKind<boolean> = { default: 'true', json: 'boolean', parse: parseBoolean };
export const OFF: InputKind<boolean> = { ...ON, default: 'false' };

export const required = <Value>(text: string, parse: ParseInput<Value>): InputKind<Value> => ({
  default: text,
  json: 'string',
  parse,
});

export const optional = <Value>(
  parse: ParseInput<Value>,
  json: InputKind<Value>['json'] = 'string',
): InputKind<Value | undefined> => ({
  default: '',
  json,
  parse: (text, name) => (text === '' ? undefined : parse(text, name)),
});

export const oneOf = <Word extends string>(...values: readonly [Word, ...Word[]]): InputKind<Word> => ({
  default: values[0],
  json: 'string',
  parse: (text, name) =>
    values.find((word) => word === text.trim().toLowerCase()) ??
    refuseInput((w) => `${w.subject(name)} is not one of ${values.join(', ')}`, 'choose one of them'),
});

/** A duration, written in seconds. The parameters and the value are milliseconds. */
export const seconds = (least: number, standard: number, most: number): InputKind<number> => ({
  default: `${standard / SECOND}`,
  json: 'number',
  parse(text, name) {
    const ms = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) * SECOND : Number.NaN;
    if (ms >= least && ms <= most) return ms;
    const nearest = ms > most ? most : standard;
    const range = `between ${least / SECOND} and ${most / SECOND}`;
    return refuseInput(
      (w) => `${w.subject(name)} is ${oneLine(text) || 'empty'}, not a number of seconds ${range}`,
      (w) => `set ${w.input(name, `${nearest / SECOND}`)}`,
    );
  },
});

/** Text as one short line of a message. */
export const oneLine = (text: string): string =>
  text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, TEXT.message);
