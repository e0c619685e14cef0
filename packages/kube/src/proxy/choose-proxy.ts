import { parseProxyUrl, portOf, type ProxyAddress, withoutBrackets } from './proxy-address.ts';
import { bypassesProxy } from './bypasses-proxy.ts';

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
