import { describe, expect, it } from 'vitest';
import { givenFiles } from '../../../../../src/app/cli/commands/hub/hub-flags.ts';

const NONE = { serviceAccountKeyFile: [], serviceAccountIssuer: [] };

describe('files of others', () => {
  it('serve with a certificate and its key', () => {
    const flags = { ...NONE, tlsCertFile: 'a.crt', tlsPrivateKeyFile: 'a.key', clientCaFile: 'ca.crt' };
    expect(givenFiles(flags)).toMatchObject({
      clientCa: 'ca.crt',
      serving: { certificate: 'a.crt', key: 'a.key' },
    });
    expect(givenFiles(NONE).serving).toBeUndefined();
  });

  it.each([
    [{ tlsCertFile: 'a.crt' }, /--tls-cert-file: got "a.crt", expected --tls-private-key-file as well/],
    [{ tlsPrivateKeyFile: 'a.key' }, /--tls-private-key-file: got "a.key", expected --tls-cert-file as well/],
  ])('%j is half a pair', (half, message) => {
    expect(() => givenFiles({ ...NONE, ...half })).toThrow(message);
  });
});
