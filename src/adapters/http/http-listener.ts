import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { InputError } from '../../core/errors.ts';

export interface HttpListener {
  /** `http://HOST:PORT` as bound. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves plain HTTP with limits against slow and endless clients. A handler that fails answers 500. */
export async function listenHttp(
  options: { readonly host: string; readonly port: number },
  handle: (request: http.IncomingMessage, response: http.ServerResponse) => Promise<void>,
): Promise<HttpListener> {
  const server = http.createServer(
    { requestTimeout: 30_000, headersTimeout: 10_000, keepAliveTimeout: 60_000, maxHeaderSize: 16 * 1024 },
    (request, response) => {
      handle(request, response).catch(() => {
        if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
        response.end('{"message":"internal error"}');
      });
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new InputError(`cannot listen: ${cause.message}`, {
          code: 'http.listen',
          subject: `${options.host}:${options.port}`,
          hint: 'choose another address with --listen',
          cause,
        }),
      ),
    );
    server.listen(options.port, options.host, resolve);
  });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: async () => {
      server.closeIdleConnections();
      const closed = new Promise((resolve) => server.close(resolve));
      setTimeout(() => server.closeAllConnections(), 2_000).unref();
      await closed;
    },
  };
}
