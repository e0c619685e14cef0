import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions, createSecureContext } from 'node:tls';

/** The PEM texts of a client for a TLS handshake, and how it verifies the server. */
export interface TlsMaterial {
  /** Authorities for the certificate of the server. Absent: those that Node.js knows. */
  readonly ca?: Buffer;
  readonly cert?: Buffer | string;
  readonly key?: Buffer | string;
  /** False: any certificate is accepted. */
  readonly rejectUnauthorized?: boolean;
  /** The name that the certificate of the server must be valid for, instead of the host name. */
  readonly serverName?: string;
}

/**
 * Options for a handshake with `host`, without the address to connect to. TLS does not send an IP address as server
 * name, but the certificate is verified for it.
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

/** Whether both are PEM, and the key belongs to the certificate. */
export function isKeyPair(cert: Buffer | string, key: Buffer | string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    return false;
  }
}
