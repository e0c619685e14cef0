import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SteeredClock } from '../fakes/steered-clock.ts';
import { writeDer } from '@berth/kube/x509/der';
import type { TestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { startTestHub } from '../../packages/embedded-hub/test/hub-harness.ts';
import { openConnection } from './certificate-connection.ts';
import type { HostileAttribute } from './certificate-requests.ts';
import { freshKey, keyPem, plainSubject, requestPem, STRING_TAG } from './certificate-requests.ts';
import { ask, askAndApprove, certificateOf, failureOf, whoami } from './certificate-signing.ts';

const YEAR_MS = 365 * 86_400_000;
const DAY_MS = 86_400_000;

let hub: TestHub;
const privateKey = freshKey();
const key = keyPem(privateKey);
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub.stop());

const signed = (subject: readonly (readonly HostileAttribute[])[], more: object = {}) =>
  askAndApprove(hub, requestPem({ subject, privateKey, ...more }));

describe('a name that the X.509 library would interpret', () => {
  it.each([
    '"system:masters"',
    'system\\:masters',
    '\\system:masters',
    `#0c0e${Buffer.from('system:masters').toString('hex')}`,
    'x, O=system:masters',
    'x+O=system:masters',
    'system:masters\\0a',
    'Ünïcode "quoted" \\\\ #',
  ])('is issued as the very name that was checked, as a group: %s', async (group) => {
    const outcome = await signed(plainSubject('mallory', group));
    const cert = certificateOf(outcome) ?? '';
    expect(failureOf(outcome)).toBe('');
    expect(await whoami(hub, { cert, key })).toEqual({
      username: 'mallory',
      groups: [group, 'system:authenticated'],
    });
  });

  it.each(['"front-proxy"', 'front\\-proxy', `#0c0b${Buffer.from('front-proxy').toString('hex')}`, 'a"b'])(
    'is issued as the very name that was checked, as a user: %s',
    async (user) => {
      const cert = certificateOf(await signed(plainSubject(user, 'devs'))) ?? '';
      expect(await whoami(hub, { cert, key })).toEqual({
        username: user,
        groups: ['devs', 'system:authenticated'],
      });
    },
  );
});

describe('a name that is never signed', () => {
  it('is the group system:masters, refused when the request is made', async () => {
    const outcome = await signed(plainSubject('mallory', 'system:masters'));
    expect(failureOf(outcome)).toContain('403: certificatesigningrequests.certificates.k8s.io "request-');
    expect(failureOf(outcome)).toContain(
      'use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
  });

  it.each([
    [
      'the second group of several',
      [[{ type: 'O', value: 'a' }], [{ type: 'O', value: 'system:masters' }], [{ type: 'CN', value: 'm' }]],
    ],
    [
      'one RDN with the user',
      [
        [
          { type: 'CN', value: 'm' },
          { type: 'O', value: 'system:masters' },
        ],
      ],
    ],
    [
      'a PrintableString',
      [[{ type: 'O', value: 'system:masters', tag: STRING_TAG.printable }], [{ type: 'CN', value: 'm' }]],
    ],
    [
      'an IA5String',
      [[{ type: 'O', value: 'system:masters', tag: STRING_TAG.ia5 }], [{ type: 'CN', value: 'm' }]],
    ],
  ] as [string, HostileAttribute[][]][])('is system:masters as %s', async (_how, subject) => {
    expect(failureOf(await signed(subject))).toMatch(/^403: .*system:masters group is not allowed/);
  });

  it.each([
    ['BMPString', STRING_TAG.bmp, Buffer.from('system:masters', 'utf16le').swap16()],
    ['TeletexString', STRING_TAG.teletex, Buffer.from('system:masters')],
    ['bytes that are no UTF-8', STRING_TAG.utf8, Buffer.from('system:masters\xff', 'latin1')],
    ['a context tag', 0x80, Buffer.from('system:masters')],
  ])('is a group in a %s', async (_name, tag, value) => {
    expect(failureOf(await signed([[{ type: 'O', value, tag }], [{ type: 'CN', value: 'm' }]]))).toMatch(
      /^SignerValidationFailure: .*UTF-8/,
    );
  });

  it.each(['a\0b', 'a\nb', 'a\rb', 'a\x1b[31mb', 'a\x7f', 'a\x85b', 'a\u2028b', 'a\u202eb'])(
    'holds control characters: %j',
    async (name) => {
      const asUser = await signed(plainSubject(name));
      const asGroup = await signed(plainSubject('mallory', name));
      for (const outcome of [asUser, asGroup]) expect(failureOf(outcome)).toContain('control character');
    },
  );

  it.each([
    ['no user', [[{ type: 'O', value: 'devs' }]]],
    ['an empty user', plainSubject('', 'devs')],
    ['an empty group', plainSubject('mallory', '')],
    ['two users', [[{ type: 'CN', value: 'alice' }], [{ type: 'CN', value: 'mallory' }]]],
    [
      'two users in one RDN',
      [
        [
          { type: 'CN', value: 'alice' },
          { type: 'CN', value: 'mallory' },
        ],
      ],
    ],
    ['a name of a megabyte', plainSubject('a'.repeat(1_000_000))],
    ['a name of two kilobytes', plainSubject('a'.repeat(2000))],
    [
      'a thousand groups',
      plainSubject('mallory', ...Array.from({ length: 1000 }, (_, at) => `g${String(at)}`)),
    ],
    ['nothing', []],
    ['the user front-proxy', plainSubject('front-proxy')],
  ] as [string, HostileAttribute[][]][])('is %s', async (_what, subject) => {
    expect(failureOf(await signed(subject))).toMatch(/^(422|SignerValidationFailure): /);
  });
});

describe('a certificate for something else than authentication', () => {
  it.each([
    [['server auth'], 'invalid usage for client certificate: server auth'],
    [['client auth', 'server auth'], 'invalid usage for client certificate: server auth'],
    [['client auth', 'cert sign'], 'invalid usage for client certificate: cert sign'],
    [['any'], 'invalid usage for client certificate: any'],
    [['digital signature'], 'missing required usage for client certificate: client auth'],
  ])('is not signed: %j', async (usages, why) => {
    const outcome = await askAndApprove(hub, requestPem({ subject: plainSubject('m'), privateKey }), {
      usages,
    });
    expect(failureOf(outcome)).toBe(`SignerValidationFailure: ${why}`);
  });

  it.each([[[]], [['no such usage']], [['client auth', 'client auth']]])(
    'is no request at all: %j',
    async (usages) => {
      const outcome = await ask(hub, requestPem({ subject: plainSubject('m'), privateKey }), { usages });
      expect(outcome.status).toBe(422);
    },
  );

  it('is not issued to a request for an authority: no authority, no names of servers', async () => {
    const cert = certificateOf(await signed(plainSubject('m'), { wantsAuthority: true })) ?? '';
    const issued = new X509Certificate(cert);
    expect({ ca: issued.ca, names: issued.subjectAltName, usages: issued.keyUsage }).toEqual({
      ca: false,
      names: undefined,
      usages: ['1.3.6.1.5.5.7.3.2'],
    });
  });
});

describe('a certificate that outlives its purpose', () => {
  const lifetimeMs = (pem: string): number =>
    Date.parse(new X509Certificate(pem).validTo) - Date.parse(new X509Certificate(pem).validFrom);

  it.each([
    [undefined, YEAR_MS],
    [2 ** 31 - 1, YEAR_MS],
    [3600, 3_600_000],
  ])('ends after a year at the latest: %s seconds asked', async (expirationSeconds, wantedMs) => {
    const pem = requestPem({ subject: plainSubject('m'), privateKey });
    const outcome = await askAndApprove(hub, pem, {
      ...(expirationSeconds !== undefined && { expirationSeconds }),
    });
    const backdatedMs = 5 * 60_000;
    expect(lifetimeMs(certificateOf(outcome) ?? '') - backdatedMs).toBe(wantedMs);
  });

  it.each([599, 0, -1])('is not made for %s seconds', async (expirationSeconds) => {
    const pem = requestPem({ subject: plainSubject('m'), privateKey });
    const reply = await ask(hub, pem, { expirationSeconds });
    expect(reply.status).toBe(422);
    expect(reply.body.message).toContain('may not specify a duration less than 600 seconds (10 minutes)');
  });

  it('is refused once it has ended, on a connection that it opened before', async () => {
    const clock = new SteeredClock();
    const steered = await startTestHub({ clock });
    const pem = requestPem({ subject: plainSubject('m'), privateKey });
    const cert = certificateOf(await askAndApprove(steered, pem, { expirationSeconds: 600 })) ?? '';
    const connection = openConnection(steered, { cert, key });
    expect(await connection.status()).toBe(200);
    clock.skip(DAY_MS);
    expect(await connection.status()).toBe(401);
    connection.close();
    await steered.stop();
  });
});

describe('a key that is weak or costs much', () => {
  const rsa = (modulusLength: number, publicExponent = 65537): KeyObject =>
    generateKeyPairSync('rsa', { modulusLength, publicExponent }).privateKey;
  const ec = (namedCurve: string): KeyObject => generateKeyPairSync('ec', { namedCurve }).privateKey;

  it.each([
    ['RSA 1024', () => rsa(1024)],
    ['RSA 2047', () => rsa(2047)],
    ['RSA with the exponent 3', () => rsa(2048, 3)],
    ['P-224', () => ec('secp224r1')],
    ['P-192', () => ec('prime192v1')],
    ['secp256k1', () => ec('secp256k1')],
  ])('is not signed: %s', async (_name, make) => {
    const outcome = await askAndApprove(hub, requestPem({ subject: plainSubject('m'), privateKey: make() }));
    expect(failureOf(outcome)).toMatch(/^SignerValidationFailure: .*key/);
  });

  it.each([
    ['RSA 2048', () => rsa(2048)],
    ['RSA 3072', () => rsa(3072)],
    ['P-256', () => ec('P-256')],
    ['P-384', () => ec('P-384')],
    ['P-521', () => ec('P-521')],
    ['Ed25519', () => generateKeyPairSync('ed25519').privateKey],
  ])('is signed when it is good: %s', async (_name, make) => {
    const own = make();
    const outcome = await askAndApprove(hub, requestPem({ subject: plainSubject('m'), privateKey: own }));
    expect(failureOf(outcome)).toBe('');
    expect(await whoami(hub, { cert: certificateOf(outcome) ?? '', key: keyPem(own) })).toMatchObject({
      username: 'm',
    });
  });

  it.each([
    ['the exponent 1', 2048, 1n],
    ['an exponent as long as the modulus', 2048, (1n << 2047n) + 1n],
    ['a modulus of 16384 bits', 16_384, 65_537n],
    ['a modulus of 65536 bits', 65_536, 65_537n],
    ['a modulus of 400000 bits', 400_000, 65_537n],
  ])('is not computed with: RSA with %s', async (_name, bits, exponent) => {
    const publicKeyDer = rsaPublicKey(bits, exponent);
    const outcome = await signed(plainSubject('m'), { publicKeyDer });
    expect(failureOf(outcome)).toMatch(/^(422: .*spec\.request|SignerValidationFailure: .*key)/);
  });

  it('is not one of another: the signature proves who holds the key', async () => {
    const publicKey = createPublicKey(freshKey());
    expect(failureOf(await signed(plainSubject('m'), { publicKey }))).toMatch(/^422: .*spec\.request/);
  });
});

/** An RSA public key of the wanted shape; nobody holds its private key. */
function rsaPublicKey(bits: number, exponent: bigint): Buffer {
  const integer = (value: bigint): Buffer => {
    const hex = value.toString(16);
    return writeDer(0x02, Buffer.from(`00${hex.length % 2 === 0 ? '' : '0'}${hex}`, 'hex'));
  };
  const modulus = (1n << BigInt(bits - 1)) + 1n;
  const rsaKey = writeDer(
    0x30,
    integer(modulus),
    exponent < 128n ? writeDer(0x02, Buffer.from([Number(exponent)])) : integer(exponent),
  );
  const algorithm = writeDer(0x30, writeDer(0x06, Buffer.from('2a864886f70d010101', 'hex')), writeDer(0x05));
  return writeDer(0x30, algorithm, writeDer(0x03, Buffer.from([0]), rsaKey));
}
