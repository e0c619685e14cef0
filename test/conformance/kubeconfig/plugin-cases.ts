import type { KubeconfigRequestCase } from './case.ts';
import { PLUGIN } from './world.ts';

const V1 = 'client.authentication.k8s.io/v1';
const BETA = 'client.authentication.k8s.io/v1beta1';
const TRUSTED = { 'certificate-authority-data': '${CA_DATA}' };
const EXEC = { apiVersion: V1, command: './plugin', interactiveMode: 'Never' };

const credential = (status: object, apiVersion = V1): string =>
  JSON.stringify({ kind: 'ExecCredential', apiVersion, status });
const TOKEN = credential({ token: 's3cret-of-plugin' });

function pluginCase(
  name: string,
  over: Partial<KubeconfigRequestCase> & { readonly exec?: object; readonly prints?: string },
): KubeconfigRequestCase {
  const { exec = {}, prints = TOKEN, ...rest } = over;
  return {
    name: `a plugin: ${name}`,
    cluster: TRUSTED,
    user: { exec: { ...EXEC, ...exec } },
    files: { plugin: PLUGIN, 'credential.json': prints },
    ...rest,
  };
}

/** Programs that print credentials. */
export const PLUGIN_CASES: readonly KubeconfigRequestCase[] = [
  pluginCase('a token', {
    exec: { args: ['--for', 'a b', ''], env: [{ name: 'PLUGIN_VARIABLE', value: 'of the kubeconfig' }] },
    env: { PLUGIN_VARIABLE: 'of the environment' },
  }),
  pluginCase('in a folder beside the kubeconfig', {
    exec: { command: 'bin/plugin' },
    files: { 'bin/plugin': PLUGIN, 'bin/credential.json': TOKEN },
  }),
  pluginCase('on the PATH', {
    exec: { command: 'plugin' },
    env: { PATH: '${DIR}/bin:/usr/bin:/bin' },
    files: { 'bin/plugin': PLUGIN, 'bin/credential.json': TOKEN },
  }),
  pluginCase('v1beta1, without interactiveMode', {
    exec: { apiVersion: BETA, interactiveMode: undefined },
    prints: credential({ token: 's3cret-beta' }, BETA),
  }),
  pluginCase('v1, without interactiveMode', {
    exec: { interactiveMode: undefined },
    says: 'user "me": exec has interactiveMode "", expected one of: Never, IfAvailable, Always',
  }),
  pluginCase('another interactiveMode', {
    exec: { interactiveMode: 'Sometimes' },
    says: 'user "me": exec has interactiveMode "Sometimes"',
  }),
  pluginCase('interactiveMode IfAvailable', { exec: { interactiveMode: 'IfAvailable' } }),
  pluginCase('interactiveMode Always without a terminal', {
    exec: { interactiveMode: 'Always' },
    says: 'needs a terminal, but standard input is not one',
  }),
  pluginCase('v1alpha1', {
    exec: { apiVersion: 'client.authentication.k8s.io/v1alpha1' },
    says: 'user "me": exec has apiVersion "client.authentication.k8s.io/v1alpha1", expected one of:',
  }),
  pluginCase('without an apiVersion', {
    exec: { apiVersion: undefined },
    says: 'user "me": exec has apiVersion "", expected one of:',
  }),
  pluginCase('without a command', { exec: { command: undefined }, says: 'user "me": exec has no command' }),
  pluginCase('that gets the facts of the cluster', {
    cluster: {
      ...TRUSTED,
      server: 'https://127.0.0.1:${API_PORT}/prefix',
      'tls-server-name': 'other.example',
      'proxy-url': 'http://127.0.0.1:${PROXY_PORT}',
      'disable-compression': true,
      extensions: [
        { name: 'other', extension: { no: true } },
        { name: 'client.authentication.k8s.io/exec', extension: { audience: 'hub', deep: [1, { a: null }] } },
      ],
    },
    exec: { provideClusterInfo: true },
  }),
  pluginCase('that gets the facts of a cluster with an authority in a file', {
    cluster: { 'certificate-authority': 'ca.crt' },
    files: { plugin: PLUGIN, 'credential.json': TOKEN, 'ca.crt': '${CA}' },
    exec: { provideClusterInfo: true },
  }),
  pluginCase('that gets the facts of a cluster that is not checked', {
    cluster: { 'insecure-skip-tls-verify': true },
    exec: { apiVersion: BETA, provideClusterInfo: true },
    prints: credential({ token: 's3cret-beta' }, BETA),
  }),
  pluginCase('a certificate', {
    prints:
      '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":' +
      '{"clientCertificateData":"${CERT1}","clientKeyData":"${KEY1}"}}',
  }),
  pluginCase('a certificate and a token', {
    prints:
      '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":' +
      '{"token":"s3cret-too","clientCertificateData":"${CERT2}","clientKeyData":"${KEY2}"}}',
  }),
  pluginCase('a certificate without a key', {
    prints:
      '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":' +
      '{"clientCertificateData":"${CERT1}"}}',
    says: 'printed only one of clientCertificateData and clientKeyData',
  }),
  pluginCase('a certificate with the key of another one', {
    prints:
      '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":' +
      '{"clientCertificateData":"${CERT1}","clientKeyData":"${KEY2}"}}',
    says: 'printed a client certificate and a key that are not PEM, or do not match',
  }),
  pluginCase('YAML', {
    prints: `kind: ExecCredential\napiVersion: ${V1}\nstatus:\n  token: s3cret-yaml\n  expirationTimestamp: 2100-01-01T00:00:00Z\n`,
  }),
  pluginCase('that expired before it was printed', {
    prints: credential({ token: 's3cret-old', expirationTimestamp: '2001-01-01T00:00:00Z' }),
    then: [{ files: { 'credential.json': credential({ token: 's3cret-new' }) } }],
    differs: {
      because: 'kubectl runs the plugin once more while it connects',
      steps: ['s3cret-old', 's3cret-new'].map((token) => ({
        requests: [{ asked: 'GET /version', headers: { authorization: [`Bearer ${token}`] } }],
        proxies: [],
        plugins: [
          {
            command: '${DIR}/plugin',
            args: [],
            variable: '',
            info: { kind: 'ExecCredential', apiVersion: V1, spec: { interactive: false } },
          },
        ],
        outcome: 'answered' as const,
      })),
    },
  }),
  pluginCase('a time that is none', {
    prints: credential({ token: 's3cret', expirationTimestamp: 'tomorrow' }),
    says: 'printed a status.expirationTimestamp that is not an RFC 3339 time',
  }),
  pluginCase('that prints the credential of another version', {
    prints: credential({ token: 's3cret' }, BETA),
    says: `printed apiVersion "${BETA}", expected "${V1}" as in the kubeconfig`,
  }),
  pluginCase('that prints rubbish', {
    prints: 's3cret rubbish',
    says: 'exec plugin "${DIR}/plugin" printed something that is not a JSON object',
  }),
  pluginCase('that prints nothing', { prints: '', says: 'exec plugin "${DIR}/plugin" printed nothing' }),
  pluginCase('that prints another kind', {
    prints: JSON.stringify({ kind: 'Secret', apiVersion: 'v1', data: { a: 's3cret' } }),
    says: 'printed an object that is not an ExecCredential',
  }),
  pluginCase('that prints no status', {
    prints: JSON.stringify({ kind: 'ExecCredential', apiVersion: V1 }),
    says: 'printed no status',
  }),
  pluginCase('that prints an empty status', {
    prints: credential({}),
    says: 'printed neither a token nor a client certificate',
  }),
  pluginCase('that prints a number for a token', {
    prints: credential({ token: 12 }),
    says: 'printed a status.token that is not text',
  }),
  pluginCase('that fails', {
    files: { plugin: '#!/bin/sh\necho s3cret; exit 3\n' },
    says: 'user "me" of the kubeconfig: exec plugin "${DIR}/plugin" ended with exit code 3',
  }),
  pluginCase('that dies', {
    files: { plugin: '#!/bin/sh\nkill -9 $$\n' },
    says: 'user "me" of the kubeconfig: exec plugin "${DIR}/plugin" was ended by SIGKILL',
  }),
  pluginCase('that is not there', {
    exec: { installHint: 'Get it from\nhttps://example.com/\u001b[31m' },
    files: {},
    says: 'user "me" of the kubeconfig: exec plugin "${DIR}/plugin" was not found, or may not be executed',
  }),
  pluginCase('that is not on the PATH', {
    exec: { command: 'berth-no-such-plugin', installHint: 'Get it from https://example.com/' },
    says: 'exec plugin "berth-no-such-plugin" was not found, or may not be executed',
  }),
  pluginCase('that may not be executed', {
    files: { plugin: 'no program' },
    says: 'exec plugin "${DIR}/plugin" was not found, or may not be executed',
  }),
  pluginCase('beside a token, which counts', { user: { token: 's3cret-inside', exec: EXEC } }),
  pluginCase('beside a password, which counts', {
    user: { username: 'me', password: 's3cret', exec: EXEC },
  }),
  pluginCase('beside a certificate, which counts', {
    user: { 'client-certificate-data': '${CERT1_DATA}', 'client-key-data': '${KEY1_DATA}', exec: EXEC },
  }),
  pluginCase('beside an auth-provider', {
    user: { exec: EXEC, 'auth-provider': { name: 'oidc', config: {} } },
    says: 'user "me" has exec and auth-provider, expected one of them',
  }),
  pluginCase('for somebody to act as', { user: { exec: EXEC, as: 'jane', 'as-groups': ['one'] } }),
  pluginCase('is not run for a server without TLS', {
    cluster: { server: 'http://127.0.0.1:${HTTP_PORT}' },
  }),
];
