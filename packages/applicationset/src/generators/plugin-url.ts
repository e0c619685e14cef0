export type GoUrl =
  | {
      readonly scheme: string;
      /** The host, with the port if there is one. */
      readonly host: string;
      /** The path as it is sent, with the query. */
      readonly path: string;
      /** The address as Go writes it. */
      readonly text: string;
    }
  | { readonly error: string };

/** Splits a URL as the Go package net/url does, as far as URLs of plugins need it. */
export function parseUrlAsGo(url: string): GoUrl {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\u0000-\u001f\u007f]/.test(url)) return { error: 'net/url: invalid control character in URL' };
  const [withoutFragment = ''] = url.split('#');
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(withoutFragment)?.[1];
  if (scheme === undefined && withoutFragment.startsWith(':')) return { error: 'missing protocol scheme' };
  const rest = scheme === undefined ? withoutFragment : withoutFragment.slice(scheme.length + 1);
  const [beforeQuery = '', ...query] = rest.split('?');
  if (!beforeQuery.startsWith('/')) {
    if (scheme !== undefined) return { scheme: scheme.toLowerCase(), host: '', path: rest, text: url };
    if ((beforeQuery.split('/')[0] ?? '').includes(':'))
      return { error: 'first path segment in URL cannot contain colon' };
  }
  const authority = beforeQuery.startsWith('//') ? (/^\/\/[^/]*/.exec(beforeQuery)?.[0] ?? '').slice(2) : '';
  const path = beforeQuery.startsWith('//') ? beforeQuery.slice(2 + authority.length) : beforeQuery;
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const problem = hostProblem(host) ?? escapeProblem(path);
  if (problem !== undefined) return { error: problem };
  const queryText = query.length === 0 ? '' : `?${query.join('?')}`;
  const sentPath = path.replace(/[^!-~]/gu, (character) => encodeURIComponent(character));
  const text = scheme === undefined ? url : `${scheme.toLowerCase()}://${authority}${sentPath}${queryText}`;
  return {
    scheme: (scheme ?? '').toLowerCase(),
    host,
    path: `${sentPath === '' ? '/' : sentPath}${queryText}`,
    text,
  };
}

function hostProblem(host: string): string | undefined {
  const bad = /[ "<>\\^`{|}]/.exec(host)?.[0];
  if (bad !== undefined) return `invalid character ${JSON.stringify(bad)} in host name`;
  const port = host.startsWith('[') ? host.slice(host.indexOf(']') + 1) : (/:.*$/.exec(host)?.[0] ?? '');
  if (port !== '' && !/^:\d*$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  return escapeProblem(host);
}

function escapeProblem(text: string): string | undefined {
  const wrong = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text)?.[0];
  return wrong === undefined ? undefined : `invalid URL escape ${JSON.stringify(wrong)}`;
}
