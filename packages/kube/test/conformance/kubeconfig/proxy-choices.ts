import { readFileSync, writeFileSync } from 'node:fs';

/** A server, and the variables that may name a proxy to it. `${PROXY_PORT}` and `${SOCKS_PORT}` are ports of this machine. */
export interface ProxyChoice {
  readonly server: string;
  readonly env: Readonly<Record<string, string>>;
}

export type Choice = 'http' | 'socks5' | 'direct';

const HUB = 'https://hub.invalid:6443';
const V4 = 'https://192.0.2.7:6443';
const V6 = 'https://[2001:db8::1]:6443';
const PROXY = 'http://127.0.0.1:${PROXY_PORT}';
const SOCKS = '127.0.0.1:${SOCKS_PORT}';

const noProxy = (server: string, ...lists: readonly string[]): readonly ProxyChoice[] =>
  lists.map((NO_PROXY) => ({ server, env: { HTTPS_PROXY: PROXY, NO_PROXY } }));

const variables = (server: string, ...envs: readonly Readonly<Record<string, string>>[]) =>
  envs.map((env) => ({ server, env }));

export const PROXY_CHOICES: readonly ProxyChoice[] = [
  ...noProxy(HUB, '', 'hub.invalid', 'invalid', '.invalid', '*.invalid', '.hub.invalid', '*.hub.invalid'),
  ...noProxy(HUB, 'ub.invalid', 'HUB.Invalid', '*', ' a.example , hub.invalid', ',,', 'hub.invalid,'),
  ...noProxy(HUB, 'hub.invalid:6443', 'hub.invalid:443', '.invalid:6443', '*.invalid:443', ':6443'),
  ...noProxy(HUB, '0.0.0.0/0', '192.0.2.7', 'hub.invalid/24', '**.invalid', 'h*.invalid', 'x,*'),
  ...noProxy(
    V4,
    '192.0.2.7',
    '192.0.2.8',
    '192.0.2.7:6443',
    '192.0.2.7:443',
    '192.0.2.0/24',
    '192.0.2',
    '.7',
  ),
  ...noProxy(V4, '192.0.2.7/32', '192.0.0.0/33', '2001:db8::/32', '*', 'hub.invalid', '192.0.2.*'),
  ...noProxy(
    V6,
    '2001:db8::1',
    '2001:db8:0:0::1',
    '[2001:db8::1]:6443',
    '[2001:db8::1]:443',
    '2001:db8::/32',
  ),
  ...noProxy(V6, '2001:db9::/32', '[2001:db8::1]', '192.0.2.0/24'),
  ...noProxy('https://localhost:1', ''),
  ...noProxy('https://127.9.9.9:1', ''),
  ...noProxy('https://[::1]:1', ''),
  ...variables(
    HUB,
    {},
    { https_proxy: PROXY },
    { https_proxy: PROXY, no_proxy: 'hub.invalid' },
    { HTTPS_PROXY: PROXY, NO_PROXY: 'other', no_proxy: 'hub.invalid' },
    { HTTPS_PROXY: '', https_proxy: PROXY },
    { HTTPS_PROXY: `socks5://${SOCKS}`, https_proxy: PROXY },
    { HTTPS_PROXY: `socks5h://${SOCKS}` },
    { HTTPS_PROXY: '127.0.0.1:${PROXY_PORT}' },
    { HTTP_PROXY: PROXY },
    { ALL_PROXY: PROXY },
  ),
  ...variables(
    'http://hub.invalid:6443',
    { HTTP_PROXY: PROXY },
    { http_proxy: PROXY },
    { HTTPS_PROXY: PROXY },
    { HTTP_PROXY: PROXY, NO_PROXY: '.invalid' },
  ),
];

const FILE = new URL('./proxy-choices.json', import.meta.url);

/** What kubectl chose, in the order of `PROXY_CHOICES`. */
export function readChoices(): readonly Choice[] {
  return JSON.parse(readFileSync(FILE, 'utf8')) as readonly Choice[];
}

export function writeChoices(choices: readonly Choice[]): void {
  writeFileSync(FILE, `${JSON.stringify(choices, null, 1)}\n`);
}
