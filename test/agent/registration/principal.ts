import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { CertificateAuthority } from '@berth/kube/x509/certificate-authority';

/** A principal, as argocd-agent has one: it accepts the clients of one authority, and answers with their name. */
export async function startPrincipal(authority: { readonly certificate: string; readonly key: string }) {
  const { certPem, keyPem } = await (
    await CertificateAuthority.load({ certPem: authority.certificate, keyPem: authority.key })
  ).issueServing(['localhost'], Date.now(), 3_600_000, 'principal');
  const options = { cert: certPem, key: keyPem, ca: authority.certificate, requestCert: true };
  const server = createServer({ ...options, rejectUnauthorized: true }, (socket) =>
    socket.end(String(socket.getPeerCertificate().subject.CN)),
  );
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

/** @returns the name by which the principal knows the caller; empty if it does not */
export async function callPrincipal(
  port: number,
  files: Readonly<Record<string, string>>,
  ca: string,
): Promise<string> {
  const { 'tls.crt': cert, 'tls.key': key } = files;
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, cert, key });
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  await once(socket, 'close');
  return Buffer.concat(parts).toString();
}
