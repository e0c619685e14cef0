import type { X509Certificate } from 'node:crypto';
import type { OutgoingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';

/** The two calls of the protocol, both of packets in both directions. The protocol has no package, so neither has their path. */
export const AGENT_CALL = '/AgentService/Connect';
export const DIALER_CALL = '/ProxyService/Proxy';
/** Says that an end knows windows and half-closed connections. */
export const BERTH_HEADER = 'berth-tunnel';

const GRPC_CONTENT = { 'content-type': 'application/grpc' } as const;

/** Settings of both ends: what may be on its way before the peer waits. */
export const HTTP2_SETTINGS = {
  settings: { initialWindowSize: 4 * 1024 * 1024, maxConcurrentStreams: 10_000 },
  maxSessionMemory: 256,
} as const;
/** The same for all streams of one connection. */
export const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;

/** Certificates, PEM. Both ends of each connection show one. */
export interface TlsMaterial {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

export interface ListenAt {
  readonly host: string;
  readonly port: number;
}

/** Codes of gRPC. */
export const GRPC_STATUS = { permissionDenied: '7', unimplemented: '12', unavailable: '14' } as const;

/** Begins to answer a call. Its status at the end is OK. */
export function answerCall(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders = {}): void {
  stream.respond({ ':status': 200, ...GRPC_CONTENT, ...headers }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
}

export function refuseCall(stream: ServerHttp2Stream, status: string, message: string): void {
  stream.on('error', () => undefined);
  stream.respond(
    { ':status': 200, ...GRPC_CONTENT, 'grpc-status': status, 'grpc-message': encodeURIComponent(message) },
    { endStream: true },
  );
  stream.resume();
}

/** The certificate of the client that opened the stream, which TLS has checked against the authority. */
export function peerCertificate(stream: ServerHttp2Stream): X509Certificate | undefined {
  const socket = stream.session?.socket as TLSSocket | undefined;
  return socket?.getPeerX509Certificate();
}
