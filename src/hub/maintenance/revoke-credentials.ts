import { join } from 'node:path';
import { Revocations } from '../auth/tokens/revocations.ts';
import { TokenFile } from '../auth/tokens/token-file.ts';
import { clustersIn, REVOCATIONS_FILE, TOKEN_FILE } from './data-layout.ts';

/**
 * Takes all credentials of a user away, on the hub and on its members: static tokens are removed; client certificates and tokens
 * of service accounts that were signed until now are refused. A running hub follows within seconds. New credentials may be
 * issued at once. @returns how many static tokens there were; @throws InputError when there is no hub
 */
export function revokeUser(dataDir: string, user: string, nowMs: number): number {
  clustersIn(dataDir);
  const tokens = new TokenFile(join(dataDir, TOKEN_FILE));
  new Revocations(join(dataDir, REVOCATIONS_FILE)).add(user, nowMs);
  return tokens.revoke(user);
}

/** Removes one static token. @returns the user that it was of, undefined when the hub does not know it; @throws InputError when there is no hub */
export function revokeToken(dataDir: string, token: string): string | undefined {
  clustersIn(dataDir);
  return new TokenFile(join(dataDir, TOKEN_FILE)).revokeToken(token)?.name;
}
