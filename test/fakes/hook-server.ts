import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';
import { createAuthority } from '@berth/kube/x509/self-signed-authority';
import type { LooseJson } from '../../packages/embedded-hub/test/loose-json.ts';

const LIFETIME_MS = 3_600_000;

/** What a webhook answers: a review, another status, bytes that are no review, or nothing at all. */
export type HookReply =
  | { readonly review: LooseJson }
  | { readonly status: number; readonly text: string }
  | { readonly hangs: true };

/** @param path of the request, with its query */
export type Hook = (review: LooseJson, path: string) => HookReply;

export interface HookServer {
  readonly url: string;
  readonly port: number;
  /** base64 of the PEM. */
  readonly caBundle: string;
  /** Of another authority. */
  readonly wrongCaBundle: string;
  /** Every review that came since the last call, in order. */
  taken(): { readonly path: string; readonly review: LooseJson }[];
  /** How it answers from now on. */
  answers(hook: Hook): void;
  /** From now on it closes a connection on which a second request comes, as a server does whose limit for idle ones has passed. */
  closesIdle(): void;
  close(): Promise<void>;
}

/** A webhook server of the tests on the loopback address, with a certificate for it and for `hook.default.svc`. */
export async function startHookServer(): Promise<HookServer> {
  const nowMs = Date.now();
  const authority = new CertificateAuthority(createAuthority('hooks', nowMs));
  const other = createAuthority('others', nowMs);
  const hosts = ['127.0.0.1', 'localhost', 'hook.default.svc'];
  const { certPem, keyPem } = await authority.issueServing(hosts, nowMs, LIFETIME_MS);
  let hook: Hook = () => ({ status: 404, text: 'no webhook' });
  let calls: { path: string; review: LooseJson }[] = [];
  let closesIdle = false;
  const used = new WeakSet<object>();
  const server: Server = createServer({ cert: certPem, key: keyPem }, (request, response) => {
    if (closesIdle && used.has(request.socket)) return void request.socket.destroy();
    used.add(request.socket);
    void reply(request, response, (review, path) => {
      calls.push({ path, review });
      return hook(review, path);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
  return {
    url: `https://127.0.0.1:${String(port)}`,
    port,
    caBundle: base64(authority.certPem),
    wrongCaBundle: base64(other.certPem),
    taken: () => calls.splice(0),
    answers: (next) => {
      hook = next;
    },
    closesIdle: () => {
      closesIdle = true;
    },
    close: async () => {
      calls = [];
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function reply(request: IncomingMessage, response: ServerResponse, hook: Hook): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const answer = hook(JSON.parse(Buffer.concat(chunks).toString()), request.url ?? '');
  if ('hangs' in answer) return;
  if ('status' in answer) {
    response.writeHead(answer.status, { 'content-type': 'text/plain' }).end(answer.text);
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.review));
}
