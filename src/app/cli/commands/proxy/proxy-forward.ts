import http from 'node:http';
import https from 'node:https';
import { errorText } from '@berth/runtime/errors';
import type { Http1Incoming } from '@berth/runtime/http/forward-request';
import { onAbort } from '@berth/runtime/loop/sleep';
import { printableLines } from '@berth/runtime/text/printable';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { listenAddress, oneOf, wrongOption, wrongValue } from '../../flags/option-values.ts';
import type { ForwardFlags } from './proxy-flags.ts';
import { type UserServerAccess, userServerAccess } from './user-server-entry.ts';

/** What does not go on: it is of this connection, or it is somebody's name. */
const OWN =
  /^(host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|authorization|impersonate-.*)$/;

/** @throws InputError for wrong flags, or if it cannot listen */
export async function forwardService(io: CliIo, service: string, flags: ForwardFlags): Promise<ExitCode> {
  const [, namespace, name, port] = /^([a-z0-9-]+)\/([a-z0-9-]+):([a-z0-9-]+)$/i.exec(service) ?? [];
  if (port === undefined) throw wrongValue('SERVICE', service, 'NAMESPACE/SERVICE:PORT');
  const protocol = oneOf('--protocol', flags.protocol, ['http', 'https'] as const);
  const { host, port: ownPort } = listenAddress('--listen', flags.listen);
  if (!isLocal(host))
    throw wrongOption('--listen', 'is for others, who would act as you: expected 127.0.0.1');
  const access = await userServerAccess(io, flags);
  const path = `/${encodeURIComponent(flags.cluster)}/api/v1/namespaces/${namespace}/services/${protocol}:${name}:${port}/proxy-service`;
  const at = { host, port: ownPort };
  const { port: bound, close } = await serveLocally(at, (incoming) => forward(incoming, access, path));
  io.stdout.write(
    printableLines([`http://${host}:${String(bound)}/ is ${service} of the cluster ${flags.cluster}`]),
  );
  await new Promise<void>((resolve) => onAbort(io.signal, resolve));
  await close();
  return 0;
}

async function serveLocally(
  at: { readonly host: string; readonly port: number },
  serve: (incoming: Http1Incoming) => Promise<void>,
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  const server = http.createServer({ requestTimeout: 0 });
  const { onRequests } = await import('@berth/runtime/http/forward-request');
  const { listenAt } = await import('@berth/runtime/http/http-listener');
  const close = onRequests(server, (incoming) => void serve(incoming));
  const { port } = await listenAt(server, at);
  return { port, close };
}

async function forward(
  incoming: Http1Incoming,
  { entry, token }: UserServerAccess,
  prefix: string,
): Promise<void> {
  const { answerStatus } = await import('@berth/access/server/answer-status');
  const { forwardRequest } = await import('@berth/runtime/http/forward-request');
  const { request, response } = incoming;
  const refuse = (code: number, reason: string, message: string): void =>
    answerStatus(response, code, { reason, message });
  // A page of somebody else could give its own name this address.
  if (!isLocal((request.headers.host ?? '').replace(/:\d+$/, '').replace(/^\[|\]$/g, '')))
    return refuse(403, 'Forbidden', 'the host name is not one of this machine');
  const { hostname, port, pathname } = new URL(entry.server);
  const { upgrade } = request.headers;
  const kept = Object.entries(request.headersDistinct).filter(([name]) => !OWN.test(name));
  const ca = entry.caData === undefined ? undefined : Buffer.from(entry.caData, 'base64');
  try {
    await forwardRequest(incoming, {
      send: https.request,
      options: {
        ...{ hostname: hostname.replace(/^\[|\]$/g, ''), port, ca },
        path: pathname.replace(/\/$/, '') + prefix + (request.url ?? '/'),
        headers: {
          ...Object.fromEntries(kept),
          authorization: `Bearer ${token}`,
          ...(upgrade !== undefined && { connection: 'Upgrade', upgrade }),
        },
      },
    });
  } catch (error) {
    refuse(502, 'BadGateway', `the user server cannot be reached: ${errorText(error)}`);
  }
}

function isLocal(host: string): boolean {
  return ['localhost', '127.0.0.1', '::1'].includes(host);
}
