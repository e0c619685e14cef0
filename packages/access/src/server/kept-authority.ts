import { createIfAbsent } from '@berth/kube/create-if-absent';
import { SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { secretTexts } from '@berth/kube/secret-texts';
import { createAuthority, type PemPair } from '@berth/kube/x509/self-signed-authority';
import { InputError } from '@berth/runtime/errors';

/**
 * The authority that a Secret of the hub keeps. It is made once; all replicas and restarts use it.
 * @throws InputError if the Secret has none; the errors of the API
 */
export async function keptAuthority(
  hub: KubeApi,
  key: { readonly namespace: string; readonly name: string },
  nowMs: number,
): Promise<PemPair> {
  const read = async (): Promise<PemPair | undefined> => {
    const secret = await hub.get(SECRET, key);
    const { 'tls.crt': certPem, 'tls.key': keyPem } = secret === undefined ? {} : secretTexts(secret);
    return certPem && keyPem ? { certPem, keyPem } : undefined;
  };
  const found = await read();
  if (found !== undefined) return found;
  const made = createAuthority(key.name, nowMs);
  await createIfAbsent(hub, SECRET, {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: key },
    data: {
      'tls.crt': Buffer.from(made.certPem).toString('base64'),
      'tls.key': Buffer.from(made.keyPem).toString('base64'),
    },
  });
  const stored = await read();
  if (stored !== undefined) return stored;
  throw new InputError('has no certificate and key', {
    ...{ code: 'access.authority', subject: `Secret ${key.namespace}/${key.name}` },
    hint: 'delete it, and another authority is made; agents then get other certificates',
  });
}
