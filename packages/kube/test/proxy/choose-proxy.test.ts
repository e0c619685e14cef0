import { describe, expect, it } from 'vitest';
import { chooseProxy } from '../../src/proxy/choose-proxy.ts';
import { describeProxy, parseProxyUrl } from '../../src/proxy/proxy-address.ts';
import { PROXY_CHOICES, readChoices } from '../conformance/kubeconfig/proxy-choices.ts';

const withPorts = (text: string): string => text.replace(/\$\{[A-Z_]+\}/g, '3128');

describe('the proxy to a server is the one that kubectl chooses', () => {
  const recorded = readChoices();
  const cases = PROXY_CHOICES.map((given, at) => ({
    ...given,
    want: recorded[at],
    name: `${given.server} ${JSON.stringify(given.env)}`,
  }));

  it.each(cases)('$name: $want', ({ server, env, want }) => {
    const filled = Object.entries(env).map(([name, value]) => [name, withPorts(value)]);
    const chosen = chooseProxy(new URL(server), undefined, Object.fromEntries(filled) as NodeJS.ProcessEnv);
    expect(chosen?.scheme ?? 'direct').toBe(want);
  });

  it('in every recorded case', () => expect(recorded).toHaveLength(PROXY_CHOICES.length));
});

describe('proxy-url', () => {
  it.each([
    { text: 'http://proxy', says: 'http://proxy:80' },
    { text: 'https://proxy', says: 'https://proxy:443' },
    { text: 'socks5://[::1]', says: 'socks5://[::1]:1080' },
    { text: 'http://me:s3cret@proxy:3128/path', says: 'http://proxy:3128' },
  ])('$text is $says, as errors say it', ({ text, says }) => {
    const { address, problem } = parseProxyUrl(text) as { address?: never; problem?: string };
    expect(problem).toBeUndefined();
    expect(describeProxy(address as never)).toBe(says);
  });

  it.each([
    { text: 's3cret', says: 'is not a URL' },
    {
      text: 'socks4://me:s3cret@proxy',
      says: 'has the scheme "socks4", expected one of: http, https, socks5',
    },
    { text: 'http://', says: 'is not a URL' },
    { text: 'socks5://', says: 'contains no host' },
  ])('$text $says', ({ text, says }) => expect(parseProxyUrl(text)).toEqual({ problem: says }));

  it('may hold characters that are escaped, in name and password', () => {
    expect(parseProxyUrl('http://a%40b:p%3Aw@proxy')).toMatchObject({
      address: { login: { username: 'a@b', password: 'p:w' } },
    });
  });
});
