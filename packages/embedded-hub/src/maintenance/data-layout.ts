import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { ClusterRegister } from '../cluster/cluster-register.ts';

export const TOKEN_FILE = 'tokens.json';
export const REVOCATIONS_FILE = 'revocations.json';

/**
 * Files of a hub besides its logs: keys, hashed tokens, revocations, and the administrator's
 * kubeconfig.
 */
export const SECRET_FILES = [
  'pki/ca.crt',
  'pki/ca.key',
  'pki/front-proxy-ca.crt',
  'pki/front-proxy-ca.key',
  'pki/members.json',
  'pki/service-account.key',
  TOKEN_FILE,
  REVOCATIONS_FILE,
  'admin.kubeconfig',
] as const;

/** Files of a hub at the top of its data directory. */
const HUB_FILES =
  /^(pki|hub|members|audit(-refused)?\.log.*|(server|clusters|tokens|revocations)\.json|lock|admin.*\.kubeconfig)$/;

/** Whether an entry of a directory belongs to a hub. */
export function isHubData(name: string): boolean {
  return HUB_FILES.test(name);
}

/**
 * Clusters that have data here, the hub first.
 * @throws InputError when the directory is no data directory, or a damaged one
 */
export function clustersIn(dataDir: string): readonly string[] {
  if (!existsSync(join(dataDir, 'pki', 'ca.crt')))
    throw new InputError('contains no hub', {
      code: 'hub.no-data',
      subject: `data directory ${dataDir}`,
      hint: 'Give the --data directory that `berth hub` was started with.',
    });
  return ClusterRegister.read(dataDir).names;
}

/** The name of a cluster in messages. */
export function clusterTitle(name: string): string {
  return name === '' ? 'hub' : name;
}

/** The URL of the hub, or its last one; undefined before its first start. */
export function lastServerUrl(dataDir: string): string | undefined {
  const path = serverFile(dataDir);
  if (!existsSync(path)) return undefined;
  return (JSON.parse(readFileSync(path, 'utf8')) as { url?: string }).url;
}

export function serverFile(dataDir: string): string {
  return join(dataDir, 'server.json');
}
