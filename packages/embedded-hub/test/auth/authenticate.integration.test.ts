import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Credentials } from '../../src/auth/authenticate.ts';
import { authenticate } from '../../src/auth/authenticate.ts';
import { ClientCertificates } from '../../src/auth/certificates/client-certificates.ts';
import { Revocations } from '../../src/auth/tokens/revocations.ts';
import { createSigningKey, ServiceAccountTokens } from '../../src/auth/tokens/service-account-tokens.ts';
import { TokenFile } from '../../src/auth/tokens/token-file.ts';
import type { HubRequest } from '../../src/wire/api-response.ts';

let directory: string;
let tokens: TokenFile;
let credentials: Credentials;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'berth-auth-'));
  tokens = new TokenFile(join(directory, 'tokens.json'));
  const serviceAccounts = new ServiceAccountTokens('https://hub', createSigningKey());
  const revocations = new Revocations(join(directory, 'revocations.json'));
  const certificates = new ClientCertificates('');
  const nowMs = () => 0;
  credentials = { tokens, revocations, serviceAccounts, certificates, store: undefined as never, nowMs };
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const request = (socket: object, token: string): HubRequest =>
  ({ socket, headers: { authorization: `Bearer ${token}` } }) as unknown as HubRequest;
const ALICE = { name: 'alice', groups: ['devs'] };
const known = { name: 'alice', groups: ['devs', 'system:authenticated'] };

describe('a token of a service account', () => {
  const JWT = 'eyJhbGciOiJFUzI1NiJ9.e30.c2ln';

  it('is refused when it is not ours', async () => {
    expect(await authenticate(request({}, JWT), credentials)).toBe('invalid');
  });

  it('is no stranger where the key to check it with is damaged: the answer says so', async () => {
    const damaged = { ...credentials, serviceAccounts: new ServiceAccountTokens('https://hub', 'no PEM') };
    await expect(authenticate(request({}, JWT), damaged)).rejects.toThrow();
    const token = tokens.issue(ALICE);
    expect(await authenticate(request({}, token), damaged)).toEqual(known);
  });
});

describe('a connection that has shown a token', () => {
  it('is believed the same one again without another look', async () => {
    const token = tokens.issue(ALICE);
    const socket = {};
    expect(await authenticate(request(socket, token), credentials)).toEqual(known);
    const find = vi.spyOn(tokens, 'find');
    expect(await authenticate(request(socket, token), credentials)).toEqual(known);
    expect(find).not.toHaveBeenCalled();
    expect(await authenticate(request({}, token), credentials)).toEqual(known);
    expect(find).toHaveBeenCalledTimes(1);
  });

  it('is not believed another one', async () => {
    const token = tokens.issue(ALICE);
    const other = tokens.issue({ name: 'bob', groups: [] });
    const socket = {};
    await authenticate(request(socket, token), credentials);
    expect(await authenticate(request(socket, `${token}x`), credentials)).toBe('invalid');
    expect(await authenticate(request(socket, token.slice(1)), credentials)).toBe('invalid');
    expect(await authenticate(request(socket, other), credentials)).toMatchObject({ name: 'bob' });
  });

  it('is out once the token is revoked', async () => {
    const token = tokens.issue(ALICE);
    const socket = {};
    await authenticate(request(socket, token), credentials);
    tokens.revoke('alice');
    expect(await authenticate(request(socket, token), credentials)).toBe('invalid');
  });
});
