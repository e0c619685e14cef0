import { hex, quote } from '../../text/quote.ts';
import { GoError } from '../../value/go-error.ts';

/** Go's package net/url. */
export interface UrlParts {
  readonly scheme: string;
  readonly opaque: string;
  readonly user: string | undefined;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

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
type Part = keyof typeof KEPT;

function mustEscape(char: string, part: Part): boolean {
  return !/[A-Za-z0-9\-_.~]/.test(char) && !KEPT[part].includes(char);
}

export function escapePart(bytes: string, part: Part): string {
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
export function parseUrl(text: string): UrlParts {
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

const PORT = /^(:[0-9]*)?$/;

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
export function hostname(host: string): string {
  const colon = host.lastIndexOf(':');
  const bare = colon >= 0 && PORT.test(host.slice(colon)) ? host.slice(0, colon) : host;
  return bare.startsWith('[') && bare.endsWith(']') ? bare.slice(1, -1) : bare;
}

/** url.URL's String. */
export function urlText({ scheme, opaque, user, host, path, query, fragment }: UrlParts): string {
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
