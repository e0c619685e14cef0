import { existsSync, readFileSync } from 'node:fs';
import type { ForgeProvider } from '../../src/request/forge-repository.ts';
import type { ForgeRequest, ForgeResponse } from './forge-server.ts';

/**
 * A type; `string:40`, a text of at most 40 characters; `a|b`, one of these texts; a list of one shape; or an object. `?` before a type, or as a field, allows null.
 * `!` before a field requires it, and the field `*` describes any other.
 */
type Shape = string | readonly [Shape] | { readonly [field: string]: Shape };

/** Answers by status. */
interface Operation {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Shape;
  readonly [status: string]: Shape | undefined;
}

/** What a forge says that its API takes and answers, by method and path (`test/conformance/apis`). */
type Operations = ReadonlyMap<string, Operation>;

const READ = new Map<ForgeProvider, Operations>();

function operationsOf(provider: ForgeProvider): Operations {
  const known = READ.get(provider);
  if (known !== undefined) return known;
  const file = new URL(`../conformance/apis/${provider}.json`, import.meta.url);
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '{"operations":{}}';
  const { operations } = JSON.parse(text) as { readonly operations: Record<string, Operation> };
  const read = new Map(Object.entries(operations));
  READ.set(provider, read);
  return read;
}

/**
 * What is wrong with a request, and with the answer of a fake: fields, values and addresses that the forge does not
 * describe. Gitea is not described, because it was run.
 * @param response undefined: of a test that plays a fault
 */
export function apiProblems(
  provider: ForgeProvider,
  { method = '', url = '', body }: ForgeRequest,
  response: ForgeResponse | undefined,
): readonly string[] {
  const operations = operationsOf(provider);
  if (operations.size === 0) return [];
  const { pathname, searchParams } = new URL(url, 'http://forge');
  const [name, operation] =
    [...operations].find(([one]) => patternOf(one).test(`${method} ${pathname}`)) ?? [];
  if (name === undefined || operation === undefined) return [`${method} ${pathname} does not exist`];
  const query = [...searchParams].flatMap(([key, text]) => {
    const shape = operation.query?.[key];
    return misfits(shape, shape === 'integer' ? Number(text) : text, `${name}: query.${key}`);
  });
  const sent = body === undefined ? [] : misfits(operation.body, body, `${name}: body`);
  const asked = [...query, ...sent];
  if (response === undefined || response.status >= 300) return asked;
  const at = `${name}: ${response.status}`;
  const answer = operation[String(response.status)];
  const isBare = response.body === undefined && answer !== undefined;
  return [...asked, ...(isBare ? [] : misfits(answer, response.body, at))];
}

function patternOf(name: string): RegExp {
  return new RegExp(`^${name.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function misfits(shape: Shape | undefined, value: unknown, at: string): readonly string[] {
  if (shape === undefined) return [`${at} is not described`];
  if (typeof shape === 'string')
    return fits(shape, value) ? [] : [`${at} is ${JSON.stringify(value)}, expected ${shape}`];
  if (isList(shape))
    return Array.isArray(value)
      ? value.flatMap((one) => misfits(shape[0], one, `${at}[]`))
      : [`${at} is ${JSON.stringify(value)}, expected a list`];
  if (value === null && '?' in shape) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`${at} is ${JSON.stringify(value)}, expected an object`];
  const missing = Object.keys(shape).filter((key) => key.startsWith('!') && !(key.slice(1) in value));
  return [
    ...missing.map((key) => `${at} lacks ${key.slice(1)}`),
    ...Object.entries(value).flatMap(([key, one]) =>
      one === undefined ? [] : misfits(shape[key] ?? shape[`!${key}`] ?? shape['*'], one, `${at}.${key}`),
    ),
  ];
}

function isList(shape: Exclude<Shape, string>): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function fits(shape: string, value: unknown): boolean {
  const type = shape.replace(/^\?/, '');
  if (value === null) return type !== shape;
  const [, most] = /^string:(\d+)$/.exec(type) ?? [];
  if (most !== undefined) return typeof value === 'string' && value.length <= Number(most);
  if (type === 'integer') return Number.isSafeInteger(value);
  if (!type.includes('|')) return typeof value === type;
  return typeof value === 'string' && type.split('|').includes(value);
}
