import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { decode, encode } from '../text/bytes.ts';
import { hex, quote } from '../text/quote.ts';
import { GoError, sliceText } from '../value/go-error.ts';
import { type FuncMap, func, variadic } from '../value/go-func.ts';
import { GoMap, MAP } from '../value/go-map.ts';
import { type Any, type GoType, BOOL, INT, INTERFACE, STRING, isString, valueOf } from '../value/go-type.ts';
import { CODEC_FUNCTIONS } from './codec/codec-functions.ts';
import { DEFAULT_FUNCTIONS } from './collections/default-functions.ts';
import { DICT_FUNCTIONS } from './collections/dict-functions.ts';
import { LIST_FUNCTIONS } from './collections/list-functions.ts';
import { NUMBER_FUNCTIONS } from './numbers/number-functions.ts';
import { REFUSED_FUNCTIONS } from './refused-functions.ts';
import { REGEX_FUNCTIONS } from './regex-functions.ts';
import { SEMVER_FUNCTIONS } from './semver/semver-functions.ts';
import { lower } from './text/change-case.ts';
import { TEXT_FUNCTIONS } from './text/text-functions.ts';
import { DATE_FUNCTIONS } from './time/date-functions.ts';

const MAX_NAME = 253;

/** Argo CD's own functions for names. */
const NAME_FUNCTIONS: FuncMap = new Map([
  ['normalize', func([STRING], STRING, normalize)],
  ['slugify', variadic([], INTERFACE, [STRING, slugify])],
]);

/**
 * The characters that are not escaped in each part of a URL, in addition to letters, digits and
 * `-_.~`.
 */
const KEPT = {
  user: '$&+,;=',
  host: '!$&\'()*+,;=:[]<>"',
  path: '$&+,/:;=@',
  fragment: '$&+,/:;=?@!()*',
} as const;

const PORT = /^(:[0-9]*)?$/;

/** sprig's functions for URLs (url.go). */
const URL_FUNCTIONS: FuncMap = new Map([
  ['urlParse', func([STRING], MAP, urlParse)],
  ['urlJoin', func([MAP], STRING, urlJoin)],
]);

const FUNCTIONS = [
  ['base', func([STRING], STRING, base)],
  ['dir', func([STRING], STRING, dir)],
  ['clean', func([STRING], STRING, clean)],
  ['ext', func([STRING], STRING, ext)],
  ['isAbs', func([STRING], BOOL, (path) => path.startsWith('/'))],
] as const;

/**
 * The functions of sprig for paths: base, dir, clean, ext and isAbs, and the same with the prefix
 * os.
 */
const PATH_FUNCTIONS: FuncMap = new Map([
  ...FUNCTIONS,
  ...FUNCTIONS.map(([name, fun]) => [`os${name.charAt(0).toUpperCase()}${name.slice(1)}`, fun] as const),
]);

const hash = (algorithm: string) => (bytes: string) =>
  createHash(algorithm).update(Buffer.from(bytes, 'latin1')).digest('hex');

/** sprig's checksums (crypto.go). */
const SUM_FUNCTIONS: FuncMap = new Map([
  ['sha1sum', func([STRING], STRING, hash('sha1'))],
  ['sha256sum', func([STRING], STRING, hash('sha256'))],
  ['sha512sum', func([STRING], STRING, hash('sha512'))],
  ['adler32sum', func([STRING], STRING, adler32)],
]);

/**
 * The functions of ApplicationSets in addition to those of text/template: the generic functions of
 * sprig v3 without `env`, `expandenv` and `getHostByName`, and those of Argo CD
 * (applicationset/utils/utils.go).
 */
export const ARGO_CD_FUNCTIONS: FuncMap = new Map([
  ...TEXT_FUNCTIONS,
  ...NUMBER_FUNCTIONS,
  ...LIST_FUNCTIONS,
  ...DICT_FUNCTIONS,
  ...DEFAULT_FUNCTIONS,
  ...CODEC_FUNCTIONS,
  ...REGEX_FUNCTIONS,
  ...SEMVER_FUNCTIONS,
  ...DATE_FUNCTIONS,
  ...URL_FUNCTIONS,
  ...PATH_FUNCTIONS,
  ...SUM_FUNCTIONS,
  ...NAME_FUNCTIONS,
  ...REFUSED_FUNCTIONS,
]);

type Part = keyof typeof KEPT;

/** A valid name for an object of Kubernetes (SanitizeName of Argo CD). */
function normalize(name: string): string {
  const dashed = encode(decode(lower(name)).replaceAll(/[^-a-z0-9.]/gu, '-'));
  return dashed.slice(0, MAX_NAME).replaceAll(/^[-.]+|[-.]+$/g, '');
}

/** A type assertion of Go. It fails with the text of Go if the value has another type. */
function asserted<D>(value: Any, type: GoType<D>): D {
  if (value?.type === type) return value.data as D;
  throw new GoError(`interface conversion: interface {} is ${value?.type.name ?? 'nil'}, not ${type.name}`);
}

/**
 * SlugifyName of Argo CD: `slugify [LENGTH [SMART]] NAME`. The name is normalized first.
 * gosimple/slug therefore sees only lower-case letters, digits, dashes and dots, and its language
 * tables have no effect.
 */
function slugify(args: readonly Any[]): string {
  let [most, smart, name] = [50n, true, ''];
  for (const [index, arg] of args.entries()) {
    if (index === args.length - 1) name = asserted(arg, STRING);
    else if (index === 0) most = asserted(arg, INT);
    else if (index === 1) smart = asserted(arg, BOOL);
  }
  const length = Number(most);
  let slug = normalize(name);
  if (!smart && slug.length >= length) slug = sliceText(slug, 0, length);
  slug = slug
    .replaceAll('.', '-')
    .replaceAll(/-+/g, '-')
    .replaceAll(/^[-_]+|[-_]+$/g, '');
  if (length <= 0 || !smart || slug.length <= length) return slug;
  const dash = slug.lastIndexOf('-', length);
  return slug.slice(0, dash < 0 ? length : dash);
}

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

/** Go's package net/url. */
interface UrlParts {
  readonly scheme: string;
  readonly opaque: string;
  readonly user: string | undefined;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

function mustEscape(char: string, part: Part): boolean {
  return !/[A-Za-z0-9\-_.~]/.test(char) && !KEPT[part].includes(char);
}

function escapePart(bytes: string, part: Part): string {
  return [...bytes]
    .map((char) => (mustEscape(char, part) ? `%${hex(char.charCodeAt(0), 2).toUpperCase()}` : char))
    .join('');
}

function unescapePart(bytes: string, part: Part): string {
  if (part === 'host')
    for (const char of bytes)
      if (char !== '%' && char < '\x80' && mustEscape(char, 'host'))
        throw new GoError(`invalid character ${quote(char)} in host name`);
  return bytes.replaceAll(/%(.?.?)/gs, (all: string, digits: string) => {
    const isEscape = /^[0-9a-fA-F]{2}$/.test(digits);
    if (!isEscape || (part === 'host' && /^[0-7]/.test(digits) && digits !== '25'))
      throw new GoError(`invalid URL escape ${quote(all)}`);
    return String.fromCharCode(Number.parseInt(digits, 16));
  });
}

/**
 * url.Parse.
 * @throws GoError with its text
 */
function parseUrl(text: string): UrlParts {
  try {
    const [before, fragment] = cut(text, '#');
    return { ...parseWithoutFragment(before), fragment: unescapePart(fragment, 'fragment') };
  } catch (error) {
    if (!(error instanceof GoError)) throw error;
    const [before] = cut(text, '#');
    // The error names the text with the fragment only if the fragment is wrong.
    const named = error.message.startsWith('invalid URL escape') && isValid(before) ? text : before;
    throw new GoError(`parse ${quote(named)}: ${error.message}`);
  }
}

function isValid(text: string): boolean {
  try {
    parseWithoutFragment(text);
    return true;
  } catch {
    return false;
  }
}

function cut(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

function parseWithoutFragment(text: string): UrlParts {
  if (/[\0-\x1f\x7f]/.test(text)) throw new GoError('net/url: invalid control character in URL');
  const parts = { scheme: '', opaque: '', user: undefined, host: '', path: '', query: '', fragment: '' };
  if (text === '*') return { ...parts, path: '*' };
  if (text.startsWith(':')) throw new GoError('missing protocol scheme');
  const scheme = /^([A-Za-z][A-Za-z0-9+\-.]*):/.exec(text)?.[1];
  const [hierarchy, query] = cut(scheme === undefined ? text : text.slice(scheme.length + 1), '?');
  const known = { ...parts, scheme: (scheme ?? '').toLowerCase(), query };
  if (!hierarchy.startsWith('/')) {
    if (scheme !== undefined) return { ...known, opaque: hierarchy };
    if (cut(hierarchy, '/')[0].includes(':'))
      throw new GoError('first path segment in URL cannot contain colon');
  }
  if (!hierarchy.startsWith('//') || (scheme === undefined && hierarchy.startsWith('///')))
    return { ...known, path: unescapePart(hierarchy, 'path') };
  const slash = hierarchy.indexOf('/', 2);
  const authority = parseAuthority(known.scheme, slash < 0 ? hierarchy.slice(2) : hierarchy.slice(2, slash));
  return { ...known, ...authority, path: slash < 0 ? '' : unescapePart(hierarchy.slice(slash), 'path') };
}

function parseAuthority(scheme: string, authority: string): Pick<UrlParts, 'user' | 'host'> {
  const at = authority.lastIndexOf('@');
  const host = parseHost(scheme, authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (/[^A-Za-z0-9\-._:~!$&'()*+,;=%@]/.test(user)) throw new GoError('net/url: invalid userinfo');
  const [name, password] = cut(user, ':');
  const parts = user.includes(':') ? [name, password] : [user];
  return { user: parts.map((part) => escapePart(unescapePart(part, 'user'), 'user')).join(':'), host };
}

function parseHost(scheme: string, host: string): string {
  const open = host.lastIndexOf('[');
  if (open > 0) throw new GoError('invalid IP-literal');
  if (open === 0) return parseLiteral(host);
  const [first, last] = [host.indexOf(':'), host.lastIndexOf(':')];
  const isWeb = scheme === 'http' || scheme === 'https';
  const port = first < 0 ? '' : host.slice(isWeb ? first : last);
  if (!PORT.test(port)) throw new GoError(`invalid port ${quote(port)} after host`);
  return unescapePart(host, 'host');
}

/** An IPv6 address in brackets. */
function parseLiteral(host: string): string {
  const close = host.lastIndexOf(']');
  if (close < 0) throw new GoError("missing ']' in host");
  const port = host.slice(close + 1);
  if (!PORT.test(port)) throw new GoError(`invalid port ${quote(port)} after host`);
  const [address, zone] = cut(host.slice(1, close), '%25');
  if (!isIpv6(address)) throw new GoError(`invalid host: ParseAddr(${quote(address)}): unable to parse IP`);
  return `[${address}${zone === '' ? '' : `%${unescapePart(zone, 'path')}`}]${port}`;
}

function isIpv6(address: string): boolean {
  const halves = address.split('::');
  if (halves.length > 2 || !/^[0-9a-fA-F:.]+$/.test(address)) return false;
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const dotted = groups.at(-1)?.includes('.') === true;
  const fits = groups.every(
    (group, index) =>
      /^[0-9a-fA-F]{1,4}$/.test(group) ||
      (dotted &&
        index === groups.length - 1 &&
        group.split('.').length === 4 &&
        group.split('.').every(isByte)),
  );
  const count = groups.length + (dotted ? 1 : 0);
  return fits && (halves.length === 2 ? count < 8 : count === 8);
}

function isByte(text: string): boolean {
  return /^(0|[1-9][0-9]{0,2})$/.test(text) && Number(text) < 256;
}

/** The host without its port and brackets. */
function hostname(host: string): string {
  const colon = host.lastIndexOf(':');
  const bare = colon >= 0 && PORT.test(host.slice(colon)) ? host.slice(0, colon) : host;
  return bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1) : bare;
}

/** url.URL's String. */
function urlText({ scheme, opaque, user, host, path, query, fragment }: UrlParts): string {
  let text = scheme === '' ? '' : `${scheme}:`;
  if (opaque !== '') text += opaque;
  else {
    const hasAuthority = host !== '' || user !== undefined;
    if ((scheme !== '' && path !== '') || hasAuthority)
      text += `//${user === undefined ? '' : `${user}@`}${escapePart(host, 'host')}`;
    const escaped = path === '*' ? '*' : escapePart(path, 'path');
    if (escaped !== '' && !escaped.startsWith('/') && host !== '') text += '/';
    if (text === '' && cut(escaped, '/')[0].includes(':')) text += './';
    text += escaped;
  }
  if (query !== '') text += `?${query}`;
  return fragment === '' ? text : `${text}#${escapePart(fragment, 'fragment')}`;
}

/** The package path of Go. Argo CD runs on Linux, where path/filepath does the same. */
function clean(path: string): string {
  const isRooted = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    const isUp = part === '..';
    if (isUp && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!isUp || !isRooted) parts.push(part);
  }
  const joined = parts.join('/');
  if (isRooted) return `/${joined}`;
  return joined === '' ? '.' : joined;
}

function base(path: string): string {
  if (path === '') return '.';
  const trimmed = path.replace(/\/+$/, '');
  return trimmed === '' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

function dir(path: string): string {
  return clean(path.slice(0, path.lastIndexOf('/') + 1));
}

function ext(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
}

function adler32(bytes: string): string {
  let [a, b] = [1, 0];
  for (let at = 0; at < bytes.length; at++) {
    a = (a + bytes.charCodeAt(at)) % 65521;
    b = (b + a) % 65521;
  }
  return String(b * 65536 + a);
}
