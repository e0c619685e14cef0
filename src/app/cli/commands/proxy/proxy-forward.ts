import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Incoming } from '@berth/access/server/forward-request';
import { errorText, InputError } from '@berth/runtime/errors';
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
  const server = await serveLocally({ host, port: ownPort }, (incoming) => forward(incoming, access, path));
  const { port: bound } = server.address() as AddressInfo;
  io.stdout.write(
    printableLines([`http://${host}:${String(bound)}/ is ${service} of the cluster ${flags.cluster}`]),
  );
  await new Promise<void>((resolve) => onAbort(io.signal, resolve));
  server.closeAllConnections();
  server.close();
  return 0;
}

async function serveLocally(
  { host, port }: { readonly host: string; readonly port: number },
  serve: (incoming: Incoming) => Promise<void>,
): Promise<http.Server> {
  const server = http.createServer({ requestTimeout: 0 });
  server.on('request', (request, answer) => void serve({ request, answer }));
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => undefined);
    void serve({ request, answer: { socket, head } });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new InputError(`cannot listen: ${cause.message}`, {
          ...{ code: 'access.listen', subject: `${host}:${String(port)}`, cause },
          hint: 'choose another address with --listen',
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
  return server;
}

async function forward(
  incoming: Incoming,
  { entry, token }: UserServerAccess,
  prefix: string,
): Promise<void> {
  const { answerStatus, forwardRequest, responseFor } = await import('@berth/access/server/forward-request');
  const { request, answer } = incoming;
  const refuse = (code: number, reason: string, message: string): void =>
    answerStatus(responseFor(request, answer), code, { reason, message });
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
