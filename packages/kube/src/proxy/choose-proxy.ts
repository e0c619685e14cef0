import { BlockList, isIP } from 'node:net';
import { parseProxyUrl, portOf, type ProxyAddress, withoutBrackets } from './proxy-address.ts';

/**
 * The proxy for a server: the `proxy-url` of the cluster, for every server. Otherwise that of HTTPS_PROXY (HTTP_PROXY
 * for a plain `http` server), unless NO_PROXY names the server or the server is on this machine. Lower-case variables
 * are read if the upper-case ones are empty. A variable that cannot be parsed counts as not set.
 * Source of the rules: golang.org/x/net, http/httpproxy/proxy.go (FromEnvironment, ProxyFunc), which kubectl uses.
 */
export function chooseProxy(
  server: URL,
  proxyUrl: string | undefined,
  env: NodeJS.ProcessEnv,
): ProxyAddress | undefined {
  if (proxyUrl) return parseAddress(proxyUrl);
  const variable = server.protocol === 'http:' ? 'HTTP_PROXY' : 'HTTPS_PROXY';
  const text = variableOf(env, variable);
  if (text === '') return undefined;
  const noProxy = variableOf(env, 'NO_PROXY');
  const host = withoutBrackets(server.hostname);
  return bypassesProxy(host, portOf(server), noProxy) ? undefined : fromVariable(text);
}

function variableOf(env: NodeJS.ProcessEnv, name: string): string {
  return env[name] || env[name.toLowerCase()] || '';
}

/** `host:port` means `http://host:port`. */
function fromVariable(text: string): ProxyAddress | undefined {
  const hasScheme = /^[a-z][a-z0-9+.-]*:\/\/./i.test(text);
  return parseAddress(hasScheme ? text.replace(/^socks5h:/i, 'socks5:') : `http://${text}`);
}

function parseAddress(text: string): ProxyAddress | undefined {
  const result = parseProxyUrl(text);
  return result.problem === undefined ? result.address : undefined;
}

type Matcher = (host: string, port: string) => boolean;

/**
 * Whether NO_PROXY excludes a server from the proxy. Servers on this machine (`localhost`, loopback addresses) are
 * always excluded. Entries are separated by commas: `*`, a network in CIDR notation, an address, or a domain. An
 * address or a domain may have a port, and then matches only this port. `example.com` matches the domain and its
 * subdomains; `.example.com` and `*.example.com` match only its subdomains.
 * Source of the rules: golang.org/x/net, http/httpproxy/proxy.go (useProxy, init).
 * @param host a name, or an address without brackets
 */
export function bypassesProxy(host: string, port: number, noProxy: string): boolean {
  const name = host.toLowerCase();
  if (name === 'localhost' || (isIP(name) !== 0 && isLoopback(name))) return true;
  return noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && matcherOf(entry)(name, String(port)));
}

function matcherOf(entry: string): Matcher {
  if (entry === '*') return () => true;
  const network = networkOf(entry);
  if (network !== undefined) return (host) => contains(network, host);
  const [host, port] = splitPort(entry);
  if (host === '') return () => false;
  const matchesPort = (requestedPort: string): boolean => port === '' || port === requestedPort;
  if (isIP(host) !== 0) {
    const address = listOf(host, isIP(host) === 4 ? 32 : 128);
    return (requestedHost, requestedPort) => contains(address, requestedHost) && matchesPort(requestedPort);
  }
  return (requestedHost, requestedPort) =>
    isIP(requestedHost) === 0 && isInDomain(requestedHost, host) && matchesPort(requestedPort);
}

function isInDomain(requestedHost: string, entry: string): boolean {
  const domain = entry.startsWith('*.') ? entry.slice(1) : entry;
  return domain.startsWith('.')
    ? requestedHost.endsWith(domain)
    : requestedHost === domain || requestedHost.endsWith(`.${domain}`);
}

/** `host:port` and `[host]:port`; an IPv6 address without brackets has no port. */
function splitPort(entry: string): readonly [string, string] {
  const [, bracketed, bracketedPort] = /^\[(.*)\]:(\d*)$/.exec(entry) ?? [];
  if (bracketed !== undefined) return [bracketed, bracketedPort ?? ''];
  const parts = entry.split(':');
  return parts.length === 2 ? [parts[0] ?? '', parts[1] ?? ''] : [entry, ''];
}

function networkOf(entry: string): BlockList | undefined {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(entry) ?? [];
  const family = isIP(address);
  if (family === 0 || Number(bits) > (family === 4 ? 32 : 128)) return undefined;
  return listOf(address, Number(bits));
}

function listOf(address: string, bits: number): BlockList {
  const list = new BlockList();
  list.addSubnet(address, bits, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return list;
}

function contains(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

const LOOPBACK = listOf('127.0.0.0', 8);
LOOPBACK.addAddress('::1', 'ipv6');

function isLoopback(address: string): boolean {
  return contains(LOOPBACK, address);
}
