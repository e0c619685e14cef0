import { GoError } from '../../value/go-error.ts';
import type { FuncMap } from '../../value/go-func.ts';
import { func } from '../../value/go-func.ts';
import { GoMap, MAP } from '../../value/go-map.ts';
import type { Any } from '../../value/go-type.ts';
import { isString, STRING, valueOf } from '../../value/go-type.ts';
import { hostname, parseUrl, urlText } from './url-parts.ts';

function urlParse(text: string): GoMap<Any> {
  let url: ReturnType<typeof parseUrl>;
  try {
    url = parseUrl(text);
  } catch (error) {
    throw error instanceof GoError ? new GoError(`unable to parse url: ${error.message}`) : error;
  }
  const { scheme, host, path, query, opaque, fragment, user = '' } = url;
  const parts = { scheme, host, hostname: hostname(host), path, query, opaque, fragment, userinfo: user };
  return GoMap.of(Object.entries(parts).map(([key, part]) => [key, valueOf(STRING, part)] as const));
}

function part(map: GoMap<Any> | null, key: string): string {
  if (map?.has(key) !== true) return '';
  const value = map.get(key) ?? null;
  if (value === null) throw new GoError('runtime error: invalid memory address or nil pointer dereference');
  if (isString(value)) return value.data;
  throw new GoError(`unable to parse ${key} key, must be of type string, but ${value.type.kind} found`);
}

function urlJoin(map: GoMap<Any> | null): string {
  const [scheme, host, path, query] = [
    part(map, 'scheme'),
    part(map, 'host'),
    part(map, 'path'),
    part(map, 'query'),
  ];
  const [opaque, fragment, userinfo] = [part(map, 'opaque'), part(map, 'fragment'), part(map, 'userinfo')];
  return urlText({ scheme, host, path, query, opaque, fragment, user: userOf(userinfo) });
}

function userOf(userinfo: string): string | undefined {
  if (userinfo === '') return undefined;
  try {
    return parseUrl(`proto://${userinfo}@host`).user;
  } catch (error) {
    throw error instanceof GoError
      ? new GoError(`unable to parse userinfo in dict: ${error.message}`)
      : error;
  }
}

/** sprig's functions for URLs (url.go). */
export const URL_FUNCTIONS: FuncMap = new Map([
  ['urlParse', func([STRING], MAP, urlParse)],
  ['urlJoin', func([MAP], STRING, urlJoin)],
]);
