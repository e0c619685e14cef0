import { request as httpsRequest } from 'node:https';
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { PemPair } from '@berth/kube/x509/pem-pair';
import type { ForwardedResponse } from '../wire/api-response.ts';
import type { HubRequest, HubResponse } from '../wire/hub-request.ts';
import { unavailable } from '../wire/status-errors.ts';
import type { UserInfo } from '../wire/user-info.ts';
import type { AggregatedApi } from './api-services.ts';
import { connectionTo } from './server-connection.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** Headers of one connection (hop by hop) and the caller's credentials. */
const NOT_FORWARDED =
  /^(:.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|authorization|impersonate-.*|x-remote-.*)$/;

/**
 * Forwards a request to the server of an aggregated API, and streams body and response. The user is
 * sent in X-Remote headers, authenticated by the front-proxy certificate; the caller's own
 * credentials are not sent.
 * @throws StatusError 503 when the server cannot be reached
 */
export async function forwardRequest(
  exchange: { readonly request: HubRequest; readonly response: HubResponse },
  api: AggregatedApi,
  caller: { readonly user: UserInfo; readonly identity: PemPair; readonly path: string },
): Promise<ForwardedResponse> {
  const { request, response } = exchange;
  const sent = httpsRequest({
    ...connectionTo(api, caller.identity),
    method: request.method,
    path: caller.path,
    headers: forwardedHeaders(request, caller.user),
  });
  response.once('close', () => sent.destroy());
  request.pipe(sent);
  const received = await responseTo(sent).catch((error: unknown) => {
    throw unavailable(`the server of ${api.name} cannot be reached: ${String(error)}`);
  });
  response.statusCode = received.statusCode ?? 502;
  for (const [name, value] of Object.entries(received.headers))
    if (value !== undefined && !NOT_FORWARDED.test(name)) response.setHeader(name, value);
  response.writeHead(response.statusCode);
  received.on('error', () => response.destroy());
  received.pipe(response as NodeJS.WritableStream);
  return { kind: 'forwarded', code: response.statusCode };
}

function responseTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => sent.destroy(new Error('connecting took too long')), CONNECT_TIMEOUT_MS);
    sent.once('socket', (socket) => socket.once('secureConnect', () => clearTimeout(timer)));
    sent.once('response', (received) => {
      clearTimeout(timer);
      resolve(received);
    });
    sent.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
  });
}

function forwardedHeaders(request: HubRequest, user: UserInfo): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !NOT_FORWARDED.test(name)) headers[name] = value;
  headers['x-remote-user'] = user.name;
  headers['x-remote-group'] = [...user.groups];
  for (const [key, values] of Object.entries(user.extra ?? {}))
    headers[`x-remote-extra-${encodeURIComponent(key).toLowerCase()}`] = [...values];
  return headers;
}
