import { describe, expect, it } from 'vitest';
import { apiServerFiles } from '../../../../../src/app/cli/commands/hub/hub.ts';

const NONE = { serviceAccountKeyFile: [], serviceAccountIssuer: [] };

describe('files of others', () => {
  it('serve with a certificate and its key', () => {
    const flags = { ...NONE, tlsCertFile: 'a.crt', tlsPrivateKeyFile: 'a.key', clientCaFile: 'ca.crt' };
    expect(apiServerFiles(flags)).toMatchObject({
      clientCa: 'ca.crt',
      serving: { certificate: 'a.crt', key: 'a.key' },
    });
    expect(apiServerFiles(NONE).serving).toBeUndefined();
  });

  it.each([
    [{ tlsCertFile: 'a.crt' }, /--tls-cert-file: got "a.crt", expected --tls-private-key-file as well/],
    [{ tlsPrivateKeyFile: 'a.key' }, /--tls-private-key-file: got "a.key", expected --tls-cert-file as well/],
  ])('%j is half a pair', (half, message) => {
    expect(() => apiServerFiles({ ...NONE, ...half })).toThrow(message);
  });
});
