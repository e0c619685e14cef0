/** A proxy, and the credentials for it. */
export interface ProxyAddress {
  readonly scheme: 'http' | 'https' | 'socks5';
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** Undefined if the proxy needs no credentials. */
  readonly login: { readonly username: string; readonly password: string } | undefined;
}

type ParsedProxy =
  | { readonly address: ProxyAddress; readonly problem?: undefined }
  | { readonly problem: string };

const DEFAULT_PORTS = { http: 80, https: 443, socks5: 1080 } as const;

/**
 * Parses the `proxy-url` of a kubeconfig. The problem does not repeat the URL, which may contain a password.
 * Source of the rules: kubernetes/client-go, tools/clientcmd/helpers.go (parseProxyURL).
 */
export function parseProxyUrl(text: string): ParsedProxy {
  if (!URL.canParse(text)) return { problem: 'is not a URL' };
  const { protocol, hostname, port, username, password } = new URL(text);
  const scheme = protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https' && scheme !== 'socks5')
    return { problem: `has the scheme "${scheme}", expected one of: http, https, socks5` };
  if (hostname === '') return { problem: 'contains no host' };
  const address: ProxyAddress = {
    scheme,
    host: withoutBrackets(hostname),
    port: port === '' ? DEFAULT_PORTS[scheme] : Number(port),
    login: username === '' && password === '' ? undefined : decoded(username, password),
  };
  return { address };
}

/** `https://proxy.example:3128`, for errors, without credentials. */
export function describeProxy({ scheme, host, port }: ProxyAddress): string {
  return `${scheme}://${hostAndPort(host, port)}`;
}

export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The host of a URL in the form that sockets need. */
export function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** The port of a URL, or the default port of its scheme. */
export function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port);
  return protocol === 'http:' ? 80 : 443;
}

function decoded(username: string, password: string): ProxyAddress['login'] {
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    return { username, password };
  }
}

/** The value of an Authorization header. Source: RFC 7617. */
export function basicAuthorization(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}
