import type { KubeconfigRequestCase } from './case.ts';

const TRUSTED = { 'certificate-authority-data': '${CA_DATA}' };
const CERTIFICATE = { 'client-certificate-data': '${CERT1_DATA}', 'client-key-data': '${KEY1_DATA}' };
const ANONYMOUS = { asked: 'GET /version', headers: {} };
const IN_FILES = { 'client-certificate': 'me.crt', 'client-key': 'keys/me.key' };

/** Tokens, passwords, certificates, and whom requests act as. */
export const CREDENTIAL_CASES: readonly KubeconfigRequestCase[] = [
  { name: 'a token', cluster: TRUSTED, user: { token: 's3cret-token' } },
  { name: 'a name and a password', cluster: TRUSTED, user: { username: 'me', password: 's3cret:p w' } },
  {
    name: 'a token and a password',
    cluster: TRUSTED,
    user: { token: 's3cret-token', username: 'me', password: 's3cret' },
    says: 'user "me" has a token and a username or password',
  },
  {
    name: 'a token file and a password',
    cluster: TRUSTED,
    user: { tokenFile: 'token', username: 'me', password: 's3cret' },
    files: { token: 's3cret-token' },
    says: 'user "me" has a token and a username or password',
  },
  {
    name: 'a token file beside the kubeconfig',
    cluster: TRUSTED,
    user: { tokenFile: 'deep/token' },
    files: { 'deep/token': '  s3cret-of-file\n' },
  },
  {
    name: 'a token file that changes',
    cluster: TRUSTED,
    user: { tokenFile: 'token' },
    files: { token: 's3cret-first\n' },
    then: [{ files: { token: 's3cret-second' } }, { files: { token: 's3cret-third' } }],
  },
  {
    name: 'a token file and a token: the file counts',
    cluster: TRUSTED,
    user: { tokenFile: 'token', token: 's3cret-inside' },
    files: { token: 's3cret-of-file' },
  },
  {
    name: 'a token file that is missing, and a token',
    cluster: TRUSTED,
    user: { tokenFile: 'gone', token: 's3cret-inside' },
  },
  {
    name: 'an empty token file, and a token',
    cluster: TRUSTED,
    user: { tokenFile: 'token', token: 's3cret-inside' },
    files: { token: '\n' },
  },
  {
    name: 'a token file that is missing',
    cluster: TRUSTED,
    user: { tokenFile: 'gone' },
    says: 'ENOENT: no such file or directory, open ',
  },
  {
    name: 'a token file that is empty',
    cluster: TRUSTED,
    user: { tokenFile: 'token' },
    files: { token: '\n' },
    says: 'token is empty',
  },
  { name: 'a certificate inside', cluster: TRUSTED, user: CERTIFICATE },
  {
    name: 'a certificate and an authority in files, which change',
    cluster: { 'certificate-authority': 'tls/ca.crt' },
    user: IN_FILES,
    files: { 'tls/ca.crt': '${CA}', 'me.crt': '${CERT1}', 'keys/me.key': '${KEY1}' },
    then: [
      { files: { 'me.crt': '${CERT2}', 'keys/me.key': '${KEY2}' } },
      { files: { 'tls/ca.crt': '${OTHER_CA}${CA}' } },
    ],
  },
  {
    name: 'a certificate and a token are both sent',
    cluster: TRUSTED,
    user: { ...CERTIFICATE, token: 's3cret-token' },
  },
  {
    name: 'a certificate and a password are both sent',
    cluster: TRUSTED,
    user: { ...CERTIFICATE, username: 'me', password: 's3cret' },
  },
  {
    name: 'a certificate inside and in a file',
    cluster: TRUSTED,
    user: { ...CERTIFICATE, 'client-certificate': 'me.crt' },
    files: { 'me.crt': '${CERT2}' },
    says: 'has client-certificate and client-certificate-data, expected one of them',
  },
  {
    name: 'a key inside and in a file',
    cluster: TRUSTED,
    user: { ...CERTIFICATE, 'client-key': 'me.key' },
    files: { 'me.key': '${KEY2}' },
    says: 'has client-key and client-key-data, expected one of them',
  },
  {
    name: 'a certificate without a key',
    cluster: TRUSTED,
    user: { 'client-certificate-data': '${CERT1_DATA}' },
    says: 'has a client certificate and no client-key',
  },
  {
    name: 'a certificate with the key of another one',
    cluster: TRUSTED,
    user: { ...CERTIFICATE, 'client-key-data': '${KEY2_DATA}' },
    says: 'client-certificate-data and client-key are not PEM, or do not match',
  },
  {
    name: 'a certificate file that is missing',
    cluster: TRUSTED,
    user: IN_FILES,
    says: 'client-certificate: ENOENT',
  },
  { name: 'a key alone is not used', cluster: TRUSTED, user: { 'client-key': 'gone', token: 's3cret' } },
  {
    name: 'data that is not base64',
    cluster: TRUSTED,
    user: { 'client-certificate-data': 's3cret!' },
    says: 'users[0].user: client-certificate-data is not base64',
  },
  {
    name: 'somebody to act as',
    cluster: TRUSTED,
    user: {
      token: 's3cret',
      as: 'system:serviceaccount:a:b',
      'as-uid': '17',
      'as-groups': ['one', 'two two'],
      'as-user-extra': { scopes: ['a', 'b'], 'example.com/Fünf%': ['x y'] },
    },
  },
  {
    name: 'somebody to act as, without groups',
    cluster: TRUSTED,
    user: { token: 's3cret', as: 'jane', 'as-groups': [] },
  },
  {
    name: 'groups to act as, without a user',
    cluster: TRUSTED,
    user: { token: 's3cret', 'as-groups': ['one'] },
    says: 'has as-uid, as-groups or as-user-extra without as',
  },
  {
    name: 'a UID to act as, without a user',
    cluster: TRUSTED,
    user: { token: 's3cret', 'as-uid': '17' },
    says: 'has as-uid, as-groups or as-user-extra without as',
  },
  {
    name: 'groups that are no list',
    cluster: TRUSTED,
    user: { token: 's3cret', as: 'jane', 'as-groups': 'one' },
    says: 'users[0].user: as-groups is not a list',
  },
  {
    name: 'an auth-provider that Kubernetes no longer has',
    cluster: TRUSTED,
    user: { 'auth-provider': { name: 'gcp', config: { 'access-token': 's3cret' } } },
    says: 'has the auth-provider "gcp", which Kubernetes no longer has: use an exec plugin',
  },
  {
    name: 'an unknown auth-provider',
    cluster: TRUSTED,
    user: { 'auth-provider': { name: 'mine' } },
    says: 'has the auth-provider "mine", which Kubernetes no longer has',
  },
  {
    name: 'the auth-provider oidc with an ID token that is good for long',
    cluster: TRUSTED,
    user: {
      'auth-provider': {
        name: 'oidc',
        config: {
          'client-id': 'c',
          'idp-issuer-url': 'https://127.0.0.1:1',
          // {"alg":"none"} and {"exp":4102444800}
          'id-token': 'eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9.s3cret',
        },
      },
    },
  },
  {
    name: 'no server without TLS gets a token',
    cluster: { server: 'http://127.0.0.1:${HTTP_PORT}' },
    user: { token: 's3cret', as: 'jane' },
  },
  {
    name: 'no server without TLS gets a token, also where nothing is checked',
    cluster: { server: 'http://127.0.0.1:${HTTP_PORT}', 'insecure-skip-tls-verify': true },
    user: { username: 'me', password: 's3cret' },
  },
  {
    name: 'a context without a user',
    kubeconfig: {
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'hub' } }],
      clusters: [{ name: 'hub', cluster: { server: 'https://127.0.0.1:${API_PORT}', ...TRUSTED } }],
    },
    differs: {
      because: 'kubectl asks the person at the terminal for a name and a password',
      steps: [{ requests: [ANONYMOUS], proxies: [], plugins: [], outcome: 'answered' }],
    },
  },
  {
    name: 'a context with a user that is not there',
    kubeconfig: {
      'current-context': 'here',
      contexts: [{ name: 'here', context: { cluster: 'hub', user: 'me' } }],
      clusters: [{ name: 'hub', cluster: { server: 'https://127.0.0.1:${API_PORT}', ...TRUSTED } }],
    },
    says: 'context "here" names the user "me", which does not exist',
  },
];
