import { REFUSED_PASSWORD } from '../../fakes/recording-proxies.ts';
import type { KubeconfigRequestCase } from './case.ts';

const TRUSTED = { 'certificate-authority-data': '${CA_DATA}' };
const TOKEN = { token: 's3cret' };
const NAMED = { ...TRUSTED, server: 'https://hub.example:${API_PORT}' };

/** How the server is reached and checked, also through proxies. */
export const SERVER_CASES: readonly KubeconfigRequestCase[] = [
  {
    name: 'a server with a path',
    cluster: { ...TRUSTED, server: 'https://127.0.0.1:${API_PORT}/clusters/one/' },
    user: TOKEN,
  },
  { name: 'an IPv6 address', cluster: { ...TRUSTED, server: 'https://[::1]:${API6_PORT}' }, user: TOKEN },
  {
    name: 'a host and a port, with an authority',
    cluster: { ...TRUSTED, server: 'localhost:${API_PORT}' },
    user: TOKEN,
    says: 'context "here" needs a cluster with a server URL, got "localhost:',
  },
  {
    name: 'a host and a port',
    cluster: { server: '127.0.0.1:${HTTP_PORT}' },
    user: TOKEN,
    says: 'context "here" needs a cluster with a server URL, got "127.0.0.1:',
    differs: {
      because: 'kubectl speaks without TLS to it, and tells no credentials',
      steps: [{ requests: [], proxies: [], plugins: [], outcome: 'refused' }],
    },
  },
  { name: 'an unknown authority', user: TOKEN, says: 'unable to verify the first certificate' },
  {
    name: 'another authority',
    cluster: { 'certificate-authority-data': '${OTHER_CA_DATA}' },
    user: TOKEN,
    says: 'unable to verify the first certificate',
  },
  {
    name: 'an authority that is no certificate',
    cluster: { 'certificate-authority': 'ca' },
    files: { ca: 'none' },
    user: TOKEN,
    says: 'ca contains no PEM certificate',
  },
  {
    name: 'an authority inside and in a file',
    cluster: { ...TRUSTED, 'certificate-authority': 'ca' },
    files: { ca: '${CA}' },
    user: TOKEN,
    says: 'has certificate-authority and certificate-authority-data, expected one of them',
  },
  {
    name: 'an authority file that is missing',
    cluster: { 'certificate-authority': 'gone' },
    user: TOKEN,
    says: 'certificate-authority: ENOENT',
  },
  { name: 'a server that is not checked', cluster: { 'insecure-skip-tls-verify': true }, user: TOKEN },
  {
    name: 'a server that is not checked, with an authority',
    cluster: { ...TRUSTED, 'insecure-skip-tls-verify': true },
    user: TOKEN,
    says: 'has a certificate authority and insecure-skip-tls-verify, expected one of them',
  },
  {
    name: 'insecure-skip-tls-verify as text',
    cluster: { 'insecure-skip-tls-verify': 'true' },
    user: TOKEN,
    says: 'clusters[0].cluster: insecure-skip-tls-verify is a string, expected true or false',
  },
  {
    name: 'tls-server-name',
    cluster: { ...TRUSTED, 'tls-server-name': 'other.example' },
    user: TOKEN,
  },
  {
    name: 'tls-server-name that the certificate does not have',
    cluster: { ...TRUSTED, 'tls-server-name': 'third.example' },
    user: TOKEN,
    says: "does not match certificate's altnames",
  },
  {
    name: 'tls-server-name that is an address',
    cluster: { ...TRUSTED, server: 'https://localhost:${API_PORT}', 'tls-server-name': '127.0.0.1' },
    user: TOKEN,
  },
  {
    name: 'tls-server-name that is an address that the certificate does not have',
    cluster: { ...TRUSTED, 'tls-server-name': '127.0.0.2' },
    user: TOKEN,
    says: "does not match certificate's altnames",
  },
  { name: 'disable-compression', cluster: { ...TRUSTED, 'disable-compression': true }, user: TOKEN },
  {
    name: 'an HTTP proxy',
    cluster: { ...NAMED, 'proxy-url': 'http://127.0.0.1:${PROXY_PORT}' },
    user: TOKEN,
  },
  {
    name: 'an HTTP proxy that asks for a name and a password',
    cluster: { ...NAMED, 'proxy-url': 'http://me:s3cret%3Ap%40w@127.0.0.1:${PROXY_PORT}/' },
    user: TOKEN,
  },
  {
    name: 'an HTTP proxy that refuses',
    cluster: { ...NAMED, 'proxy-url': `http://me:${REFUSED_PASSWORD}@127.0.0.1:\${PROXY_PORT}` },
    user: TOKEN,
    says: 'answered 407 Proxy Authentication Required to CONNECT hub.example:',
  },
  {
    name: 'an HTTP proxy to an address of this machine',
    cluster: { ...TRUSTED, 'proxy-url': 'http://127.0.0.1:${PROXY_PORT}' },
    user: TOKEN,
  },
  {
    name: 'an HTTP proxy to an IPv6 address',
    cluster: {
      ...TRUSTED,
      server: 'https://[::1]:${API6_PORT}',
      'proxy-url': 'http://127.0.0.1:${PROXY_PORT}',
    },
    user: TOKEN,
  },
  {
    name: 'an HTTP proxy to a server without TLS',
    cluster: {
      server: 'http://hub.example:${HTTP_PORT}',
      'proxy-url': 'http://me:s3cret@127.0.0.1:${PROXY_PORT}',
    },
    user: TOKEN,
  },
  {
    name: 'an HTTPS proxy, which is checked as the server is',
    cluster: { ...NAMED, 'proxy-url': 'https://me:s3cret@localhost:${TLS_PROXY_PORT}' },
    user: TOKEN,
  },
  {
    name: 'an HTTPS proxy of another authority',
    cluster: {
      server: 'https://hub.example:${API_PORT}',
      'certificate-authority-data': '${OTHER_CA_DATA}',
      'proxy-url': 'https://localhost:${TLS_PROXY_PORT}',
    },
    user: TOKEN,
    says: 'proxy https://localhost:',
  },
  {
    name: 'a SOCKS5 proxy to a name, which the proxy looks up',
    cluster: { ...NAMED, 'proxy-url': 'socks5://127.0.0.1:${SOCKS_PORT}' },
    user: TOKEN,
  },
  {
    name: 'a SOCKS5 proxy to an IPv4 address',
    cluster: { ...TRUSTED, 'proxy-url': 'socks5://localhost:${SOCKS_PORT}' },
    user: TOKEN,
  },
  {
    name: 'a SOCKS5 proxy to an IPv6 address',
    cluster: {
      ...TRUSTED,
      server: 'https://[::1]:${API6_PORT}',
      'proxy-url': 'socks5://127.0.0.1:${SOCKS_PORT}',
    },
    user: TOKEN,
  },
  {
    name: 'a SOCKS5 proxy that asks for a name and a password',
    cluster: { ...NAMED, 'proxy-url': 'socks5://me:s3cret@127.0.0.1:${SOCKS_PORT}' },
    user: TOKEN,
  },
  {
    name: 'a SOCKS5 proxy that refuses',
    cluster: { ...NAMED, 'proxy-url': `socks5://me:${REFUSED_PASSWORD}@127.0.0.1:\${SOCKS_PORT}` },
    user: TOKEN,
    says: 'proxy socks5://127.0.0.1:',
  },
  {
    name: 'a SOCKS5 proxy to a server without TLS',
    cluster: { server: 'http://hub.example:${HTTP_PORT}', 'proxy-url': 'socks5://127.0.0.1:${SOCKS_PORT}' },
    user: TOKEN,
  },
  {
    name: 'a proxy, a certificate and tls-server-name',
    cluster: {
      ...NAMED,
      'tls-server-name': 'other.example',
      'proxy-url': 'socks5://127.0.0.1:${SOCKS_PORT}',
    },
    user: { 'client-certificate-data': '${CERT1_DATA}', 'client-key-data': '${KEY1_DATA}' },
  },
  {
    name: 'a proxy with another scheme',
    cluster: { ...NAMED, 'proxy-url': 'socks4://me:s3cret@127.0.0.1:${SOCKS_PORT}' },
    user: TOKEN,
    says: 'cluster "hub": proxy-url has the scheme "socks4", expected one of: http, https, socks5',
  },
  {
    name: 'a proxy without a scheme',
    cluster: { ...NAMED, 'proxy-url': '127.0.0.1:${PROXY_PORT}' },
    user: TOKEN,
    says: 'cluster "hub": proxy-url ',
  },
  {
    name: 'a proxy of the environment',
    cluster: NAMED,
    user: TOKEN,
    env: { HTTPS_PROXY: 'http://me:s3cret@127.0.0.1:${PROXY_PORT}' },
  },
  {
    name: 'a proxy of the environment does not count where the kubeconfig names one, and neither does NO_PROXY',
    cluster: { ...NAMED, 'proxy-url': 'socks5://127.0.0.1:${SOCKS_PORT}' },
    user: TOKEN,
    env: { HTTPS_PROXY: 'http://127.0.0.1:${PROXY_PORT}', NO_PROXY: '*' },
  },
  {
    name: 'a proxy of the environment to a server without TLS',
    cluster: { server: 'http://hub.example:${HTTP_PORT}' },
    user: TOKEN,
    env: { HTTP_PROXY: '127.0.0.1:${PROXY_PORT}' },
  },
  {
    name: 'no proxy of the environment to this machine',
    cluster: TRUSTED,
    user: TOKEN,
    env: { HTTPS_PROXY: 'http://127.0.0.1:${PROXY_PORT}' },
  },
];
