import { describe, expect, it } from 'vitest';
import { admissionOptions } from '../../../src/app/cli/commands/controller/serve-flags.ts';
import { addOnOptions, registrationOptions } from '../../../src/app/cli/commands/controller/serve.ts';
import { InputError } from '@berth/runtime/errors';

describe('--registration', () => {
  it.each([
    ['is off without the flag', {}, undefined],
    ['takes all', { registration: ['all'] }, 'acceptance approval health taints sets cleanup'],
    ['takes some, each once', { registration: ['taints', 'health', 'taints'] }, 'health taints'],
  ])('%s', (_, flags, want) => {
    expect(registrationOptions(flags)?.duties.join(' ')).toBe(want);
  });

  it.each([
    ['a controller that is unknown', { registration: ['helth'] }],
    ['a user without acceptance', { registration: ['health'], autoAcceptUser: ['u'] }],
    ['a rule without registration', { autoAcceptRule: ['true'] }],
    ['a rule that cannot be compiled', { registration: ['all'], autoAcceptRule: ['request.username =='] }],
  ])('refuses %s', (_, flags) => {
    expect(() => registrationOptions(flags)).toThrow(InputError);
  });

  it('compiles rules and keeps users', () => {
    const options = registrationOptions({
      registration: ['approval'],
      autoAcceptUser: ['u'],
      autoAcceptRule: ['true'],
    });
    expect(options?.autoAcceptance).toMatchObject({ users: ['u'], rules: [{ expression: 'true' }] });
  });
});

describe('--admission-listen', () => {
  const at = { host: '0.0.0.0', port: 9443 };
  const service = { kind: 'service', namespace: 'berth-system', name: 'berth-admission', port: 443 };
  it.each([
    ['is off without the flag', {}, undefined],
    ['is reached by a Service', { admissionListen: ':9443' }, { ...at, address: service }],
    [
      'takes another Service',
      { admissionListen: ':9443', admissionService: 'a/b:8443' },
      { ...at, address: { kind: 'service', namespace: 'a', name: 'b', port: 8443 } },
    ],
    [
      'takes a URL',
      { admissionListen: '9443', admissionUrl: 'https://10.0.0.1:9443' },
      { ...at, address: { kind: 'url', url: 'https://10.0.0.1:9443' } },
    ],
  ])('%s', (_, flags, want) => {
    expect(admissionOptions(flags)).toEqual(want);
  });

  it.each([
    ['a URL without it', { admissionUrl: 'https://x' }, '--admission-url'],
    ['a Service without it', { admissionService: 'a/b' }, '--admission-service'],
    ['both', { admissionListen: '1', admissionUrl: 'https://x', admissionService: 'a/b' }, '--admission-url'],
    ['plain HTTP', { admissionListen: '1', admissionUrl: 'http://x' }, '--admission-url'],
    ['a path', { admissionListen: '1', admissionUrl: 'https://x/y' }, '--admission-url'],
    ['a user', { admissionListen: '1', admissionUrl: 'https://u@x' }, '--admission-url'],
    ['a name without namespace', { admissionListen: '1', admissionService: 'b' }, '--admission-service'],
    ['a port that is none', { admissionListen: '1', admissionService: 'a/b:0' }, '--admission-service'],
    ['no address', { admissionListen: 'x:y' }, '--admission-listen'],
  ])('refuses %s', (_, flags, flag) => {
    expect(() => admissionOptions(flags)).toThrow(flag);
  });
});

describe('--addons', () => {
  it.each([
    ['all', 'install configuration deployment registration health'],
    ['health', 'health'],
  ])('takes %s', (text, want) => {
    expect(addOnOptions({ addons: [text] })?.duties.join(' ')).toBe(want);
  });

  it('is off by default, and refuses what it does not know', () => {
    expect(addOnOptions({})).toBeUndefined();
    expect(() => addOnOptions({ addons: ['instal'] })).toThrow(
      'expected install, configuration, deployment, registration, health or all',
    );
  });
});
