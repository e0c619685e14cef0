import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';
import { errorText } from '@berth/runtime/errors';
import { readFlagFile, wrongFile } from '../files/flag-file.ts';

const CODE = 'hub.service-account-keys';

/** A key with which others sign ServiceAccount tokens, and its algorithms. */
export interface ExternalTokenKey {
  readonly key: KeyObject;
  readonly algorithms: readonly string[];
}

const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g;
/** Source: kubernetes pkg/serviceaccount/jwt.go (`signerFromECDSAPrivateKey`). */
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/**
 * The keys of `--service-account-key-file`: public keys, certificates, or private keys, of which the public half counts.
 * @throws InputError when a file cannot be read, or holds no RSA or ECDSA key
 */
export function readTokenKeys(files: readonly string[]): readonly ExternalTokenKey[] {
  return files.flatMap((file) => {
    const blocks = readFlagFile(CODE, file).match(PEM_BLOCK) ?? [];
    if (blocks.length === 0) throw wrongFile(CODE, file, 'holds no key, expected PEM');
    return blocks.map((block) => keyOf(file, block));
  });
}

function keyOf(file: string, block: string): ExternalTokenKey {
  let key: KeyObject;
  try {
    key = createPublicKey(block);
  } catch (error) {
    throw wrongFile(CODE, file, `holds a key that cannot be read: ${errorText(error)}`);
  }
  if (key.asymmetricKeyType === 'rsa') return { key, algorithms: ['RS256', 'RS384', 'RS512'] };
  const algorithm = CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm === undefined) throw wrongFile(CODE, file, 'holds a key that is neither RSA nor ECDSA');
  return { key, algorithms: [algorithm] };
}
