import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { API_VERSION } from '../../../src/protocol/words.ts';
import type { HttpExchange } from '../server/traffic-log.ts';
import {
  type ApiDescription,
  type DescribedHost,
  type DescribedOperation,
  findOperation,
  locate,
  matchTemplate,
  readDescription,
  UNDESCRIBED_CALLS,
} from './description.ts';

/** One request, as far as it is compared with the description. */
export type ValidatedExchange = Pick<HttpExchange, 'method' | 'url' | 'headers' | 'body' | 'answer'>;

/**
 * Compares API requests and the local GitHub's answers with the protocol's tables of calls and GitHub's
 * description. Returns one line for each deviation: method, path, and what is wrong.
 */
export function findDeviations(exchanges: readonly ValidatedExchange[]): string[] {
  const found = exchanges.flatMap((exchange) => {
    const { host, target } = locate(exchange.url) ?? {};
    const isOthers = !/screen-delivery/.test(exchange.headers['user-agent'] ?? '');
    if (isOthers || host === undefined || target === undefined) return [];
    const name = `${exchange.method} ${target.replace(/\?.*$/, '')}`;
    const version = exchange.headers['x-github-api-version'];
    return [
      ...(version === API_VERSION ? [] : [`names the version ${version} of the API`]),
      ...getValidator(host).validate(exchange, target),
    ].map((flaw) => `${name}: ${flaw}`);
  });
  return [...new Set(found)];
}

const VALIDATORS = new Map<DescribedHost, DescriptionValidator>();

function getValidator(host: DescribedHost): DescriptionValidator {
  const known = VALIDATORS.get(host) ?? new DescriptionValidator(host);
  VALIDATORS.set(host, known);
  return known;
}

/** Validates against the description of one host. */
class DescriptionValidator {
  readonly #description: ApiDescription;
  readonly #strict = createAjv(false);
  /** For paths and queries, where everything is text. */
  readonly #coercing = createAjv(true);
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor(host: DescribedHost) {
    this.#description = readDescription(host);
    for (const ajv of [this.#strict, this.#coercing]) {
      ajv.addSchema({ $id: 'api', schemas: withoutRequired(this.#description.schemas) });
    }
  }

  validate(exchange: ValidatedExchange, target: string): string[] {
    const [path = '', query = ''] = target.split('?');
    if (isUndescribed(exchange.method, path)) return [];
    const found = findOperation(this.#description, exchange.method, path);
    if (found === undefined) return ['the description has no such operation'];
    const { route, operation, parameters } = found;
    const sent = Object.fromEntries(new URLSearchParams(query));
    return [
      ...this.#check(this.#coercing, `${route} path`, operation.path, { ...parameters }),
      ...this.#check(this.#coercing, `${route} query`, operation.query, sent),
      ...this.#checkBody(route, operation, exchange),
      ...this.#checkAnswer(route, operation, exchange),
    ];
  }

  #checkBody(route: string, operation: DescribedOperation, { headers, body }: ValidatedExchange): string[] {
    // Cut off on the way, or not JSON, as an asset's bytes are.
    if (!body.isWhole || (body.size > 0 && !/json/.test(headers['content-type'] ?? ''))) return [];
    if (body.size === 0) return operation.bodyRequired ? ['the body is missing'] : [];
    const sent = JSON.parse(body.text) as Record<string, unknown>;
    if (operation.body !== null) return this.#check(this.#strict, `${route} body`, operation.body, sent);
    return Object.keys(sent).length === 0 ? [] : [`body takes nothing, but got ${Object.keys(sent)}`];
  }

  #checkAnswer(
    route: string,
    operation: DescribedOperation,
    { headers, answer }: ValidatedExchange,
  ): string[] {
    if (answer === null) return [];
    const { status, body } = answer;
    const content = operation.responses[String(status)];
    if (content === undefined && status < 400) return [`answer ${status} is not described`];
    const label = `answer ${status}`;
    if (content === undefined || (content === null && status >= 400)) {
      return this.#check(this.#strict, `${route} ${label}`, { $ref: 'api#/schemas/basic-error' }, body);
    }
    if (content === null) return [`${label} has a body, but the description has none`];
    const type = Object.keys(content).find((one) => headers.accept?.includes(one.replace(/\+json$/, '')));
    const schema = content[type ?? 'application/json'] ?? Object.values(content)[0] ?? {};
    return this.#check(this.#strict, `${route} ${label} ${type ?? ''}`.trim(), withoutRequired(schema), body);
  }

  #check(ajv: Ajv, key: string, schema: object, value: unknown): string[] {
    const validate = this.#compiled.get(key) ?? ajv.compile(referToApi(schema));
    this.#compiled.set(key, validate);
    if (validate(value)) return [];
    const what = key.replace(/^\S+ \S+ /, '');
    return (validate.errors ?? []).map(({ instancePath, message = '', params }) => {
      const detail = JSON.stringify(params);
      return `${what}${instancePath} ${message} ${detail}`;
    });
  }
}

function createAjv(coerceTypes: boolean): Ajv {
  const ajv = new Ajv({ strict: false, allErrors: true, coerceTypes, logger: false });
  // The default export of a CommonJS module differs between Node and TypeScript's view of it.
  (addFormats as unknown as (target: Ajv) => void)(ajv);
  // GitHub's own addresses of bots have brackets, such as 41898282+github-actions[bot]@users.noreply.github.com.
  ajv.addFormat('email', /^[^\s@]+@[^\s@]+$/);
  return ajv;
}

/** Required fields that nobody here reads are skipped, so an answer may fit several schemas. */
function withoutRequired(schema: object): object {
  const text = JSON.stringify(schema, (name, value) =>
    name === 'required' && Array.isArray(value) ? undefined : value,
  );
  return JSON.parse(text.replaceAll('"oneOf":', '"anyOf":'));
}

/** References are relative to the description, not to the schema that contains them. */
function referToApi(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/schemas/', '"$ref":"api#/schemas/'));
}

const isUndescribed = (method: string, path: string): boolean =>
  Object.keys(UNDESCRIBED_CALLS).some((route) => {
    const [expected, template = ''] = route.split(' ');
    return expected === method && matchTemplate(template, path) !== null;
  });
