import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions, createSecureContext } from 'node:tls';

/** What a client brings to a TLS handshake: PEM texts, and how it checks the server. */
export interface TlsMaterial {
  /** Authorities that may have issued the server's certificate. Absent: those that Node knows. */
  readonly ca?: Buffer;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  /** False: any certificate will do. */
  readonly rejectUnauthorized?: boolean;
  /** The name that the server's certificate must be for, instead of the one that it was reached by. */
  readonly serverName?: string;
}

/**
 * Options for a handshake with `host`, without how to get there. An address is no server name in TLS: the certificate is checked for it,
 * and nothing is sent.
 */
export function tlsOptions(host: string, { serverName, ...tls }: TlsMaterial): ConnectionOptions {
  const name = serverName ?? host;
  if (isIP(name) === 0) return { ...tls, servername: name };
  return {
    ...tls,
    servername: '',
    checkServerIdentity: (_host, certificate) => checkServerIdentity(name, certificate),
  };
}

/** Whether both are PEM, and the key is that of the certificate. */
export function isKeyPair(cert: Buffer | string, key: Buffer | string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}
