import { traverseCost } from '../value/cel-cost.ts';
import { CelFailure, CelMap, type CelMapKey, CelOpaque, type CelValue } from '../value/cel-value.ts';
import { type CelOverload, overload } from '../value/overload.ts';

/**
 * The Kubernetes URL library. Go's request-URI rules decide what a URL is (absolute URI or absolute
 * path), and parts stay as written; the WHATWG parser would convert hosts to lower case, drop
 * default ports and accept invalid URLs.
 */
export class CelUrl extends CelOpaque {
  readonly typeName = 'kubernetes.URL';
  readonly parts: UrlParts;

  constructor(parts: UrlParts) {
    super();
    this.parts = parts;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelUrl && this.parts.text === other.parts.text;
  }
}

interface UrlParts {
  readonly text: string;
  readonly scheme: string;
  readonly host: string;
  readonly path: string;
  readonly query: string;
}

const ABSOLUTE = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s;
const AUTHORITY = /^\/\/([^/?]*)(.*)$/s;
const HOST = /^(?:[^@]*@)?(\[[0-9A-Fa-f:.%]+\]|[^:[\]\s<>"\\^`{|}]*)(?::(\d*))?$/;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

function readUrl(text: string): UrlParts | undefined {
  if (text === '' || [...text].some((character) => character < ' ' || character === '\x7f')) return undefined;
  const absolute = ABSOLUTE.exec(text);
  if (absolute === null && !text.startsWith('/')) return undefined;
  const scheme = absolute?.[1]?.toLowerCase() ?? '';
  const rest = absolute?.[2] ?? text;
  const queryStart = rest.indexOf('?');
  const query = queryStart < 0 ? '' : rest.slice(queryStart + 1);
  const body = queryStart < 0 ? rest : rest.slice(0, queryStart);
  const authority = scheme === '' ? null : AUTHORITY.exec(body);
  if (authority === null) {
    // An opaque URI (`mailto:x`) has no path; an absolute path has no scheme.
    if (scheme !== '' && !body.startsWith('/')) return { text, scheme, host: '', path: '', query };
    return BAD_ESCAPE.test(body) ? undefined : { text, scheme, host: '', path: escapePath(body), query };
  }
  const host = HOST.exec(authority[1] ?? '');
  const path = authority[2] ?? '';
  if (host === null || BAD_ESCAPE.test(path)) return undefined;
  const port = host[2];
  return {
    text,
    scheme,
    host: `${host[1] ?? ''}${port === undefined ? '' : `:${port}`}`,
    path: escapePath(path),
    query,
  };
}

/** As written where that is a valid encoding, else with the characters escaped that a path cannot hold. */
function escapePath(path: string): string {
  return path.replace(/[^A-Za-z0-9\-._~$&+,/:;=@%!'()*[\]]/gu, (character) => encodeURIComponent(character));
}

function urlOf(text: string): CelUrl | CelFailure {
  const parts = readUrl(text);
  return parts === undefined
    ? new CelFailure(`URL parse error during conversion from string: ${JSON.stringify(text)}`)
    : new CelUrl(parts);
}

function hostName({ host }: UrlParts): string {
  return host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
}

function queryMap({ query }: UrlParts): CelMap {
  const entries = new Map<CelMapKey, CelValue>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const equals = pair.indexOf('=');
    const key = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = decode(equals < 0 ? '' : pair.slice(equals + 1));
    if (key === undefined || value === undefined) continue;
    entries.set(key, [...((entries.get(key) as readonly string[] | undefined) ?? []), value]);
  }
  return new CelMap(entries);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

export const URLS: readonly CelOverload[] = [
  overload('url(string): kubernetes.URL', urlOf, traverseCost),
  overload('isURL(string): bool', (text: string) => readUrl(text) !== undefined, traverseCost),
  overload('kubernetes.URL.getScheme(): string', (url: CelUrl) => url.parts.scheme),
  overload('kubernetes.URL.getHost(): string', (url: CelUrl) => url.parts.host),
  overload('kubernetes.URL.getHostname(): string', (url: CelUrl) => hostName(url.parts)),
  overload(
    'kubernetes.URL.getPort(): string',
    (url: CelUrl) => /:(\d*)$/.exec(url.parts.host.replace(/^\[.*\]/, ''))?.[1] ?? '',
  ),
  overload('kubernetes.URL.getEscapedPath(): string', (url: CelUrl) => url.parts.path),
  overload('kubernetes.URL.getQuery(): map<string, list<string>>', (url: CelUrl) => queryMap(url.parts)),
];
