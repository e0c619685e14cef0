import { connect } from 'node:http2';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';

export interface CertificateConnection {
  /** The code of the answer to GET `path`. */
  status(path?: string): Promise<number>;
  close(): void;
}

/** One HTTP/2 connection that shows a client certificate and stays open. */
export function openConnection(
  hub: TestHub,
  credentials: { readonly cert: string; readonly key: string },
): CertificateConnection {
  const session = connect(hub.hub.url, { ca: hub.hub.caPem, ...credentials });
  return {
    status: (path = '/api') =>
      new Promise((resolve, reject) => {
        session.once('error', reject);
        const stream = session.request({ ':path': path });
        stream.on('error', reject);
        stream.on('response', (headers) => {
          session.removeListener('error', reject);
          resolve(Number(headers[':status']));
        });
        stream.resume();
        stream.end();
      }),
    close: () => session.close(),
  };
}
