import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

/** Says to the cluster's end whose request it is: `hub` with Impersonate-* headers, or `cluster` with a token of its own. */
export const CALLER_HEADER = 'berth-caller';

/** They belong to one connection (RFC 9110, section 7.6.1); Node.js writes its own. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'host', 'expect', 'http2-settings'],
]);
/** By these a server would believe in another caller. */
const IDENTITY = /^(x-remote-|berth-)/;
const IMPERSONATION = /^impersonate-/;

/** The headers that are forwarded, with all their values. */
export function forwardedHeaders({ headersDistinct, headers }: IncomingMessage): OutgoingHttpHeaders {
  const kept = Object.entries(headersDistinct).filter(
    ([name]) => !OF_THE_CONNECTION.has(name) && !IDENTITY.test(name),
  );
  const { authorization, upgrade } = headers;
  return {
    ...Object.fromEntries(kept.map(([name, values]) => [name, values?.length === 1 ? values[0] : values])),
    // Of several the first counts, as for who was asked.
    ...(authorization !== undefined && { authorization }),
    ...(upgrade !== undefined && { connection: 'Upgrade', upgrade }),
  };
}

export function isImpersonation(name: string): boolean {
  return IMPERSONATION.test(name.toLowerCase());
}

/** The place of a token where a browser can set no header (kubernetes `authentication/request/websocket`). */
const TOKEN_PROTOCOL = /^base64url\.bearer\.authorization\.k8s\.io\./;

/** Without the caller's own claims to be somebody else, and without the token. */
export function withoutIdentity(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => name !== 'authorization' && !isImpersonation(name));
  return Object.fromEntries(
    kept.map(([name, value]) => [name, name === 'sec-websocket-protocol' ? withoutToken(value) : value]),
  );
}

function withoutToken(protocols: OutgoingHttpHeaders[string]): string {
  const all = [protocols].flat().flatMap((one) => String(one).split(','));
  return all.filter((one) => !TOKEN_PROTOCOL.test(one.trim())).join(',');
}
