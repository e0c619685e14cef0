import { join } from 'node:path';
import { Revocations } from '../auth/tokens/revocations.ts';
import { TokenFile } from '../auth/tokens/token-file.ts';
import { clustersIn, REVOCATIONS_FILE, TOKEN_FILE } from './data-layout.ts';

/**
 * Revokes all credentials of a user, on the hub and on its members: static tokens are removed;
 * client certificates and service account tokens that were signed until now are rejected. A running
 * hub applies it within seconds. New credentials may be issued immediately.
 * @returns the number of removed static tokens
 * @throws InputError when there is no hub
 */
export function revokeUser(dataDir: string, user: string, nowMs: number): number {
  clustersIn(dataDir);
  const tokens = new TokenFile(join(dataDir, TOKEN_FILE));
  new Revocations(join(dataDir, REVOCATIONS_FILE)).add(user, nowMs);
  return tokens.revoke(user);
}

/**
 * Revokes one static token.
 * @returns its user, undefined if the token is unknown
 * @throws InputError when there is no hub
 */
export function revokeToken(dataDir: string, token: string): string | undefined {
  clustersIn(dataDir);
  return new TokenFile(join(dataDir, TOKEN_FILE)).revokeToken(token)?.name;
}
