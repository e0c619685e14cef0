import { isLoopbackHost } from '@berth/runtime/loopback-host';
import { FORGE_DIALECTS } from './dialects.ts';
import type { ForgeRepository } from './request/forge-repository.ts';

/**
 * Derives from the URL of a repository the address of its forge's API, and the name of the repository there. Undefined
 * for an address that is not a URL (a path), and for a forge whose API Berth does not know.
 */
export function forgeOfUrl(
  provider: ForgeRepository['provider'],
  url: string,
): Pick<ForgeRepository, 'apiUrl' | 'repository'> | undefined {
  // The form of scp: git@host:path.
  const scp = /^(?:[^@/:]+@)?([^/:@]+):(?!\/\/)(.+)$/.exec(url);
  const parsed = scp === null && URL.canParse(url) ? new URL(url) : undefined;
  const host = scp?.[1] ?? parsed?.host ?? '';
  const path = (scp?.[2] ?? unescaped(parsed?.pathname ?? '')).replace(/^\/+|\/+$/g, '');
  if (host === '' || path === '') return undefined;
  // A token is sent without TLS only inside this machine.
  const scheme = parsed?.protocol === 'http:' && isLoopbackHost(parsed.hostname) ? 'http' : 'https';
  // The port of an ssh URL says nothing about https.
  const base = `${scheme}://${parsed?.protocol === 'ssh:' ? parsed.hostname : host}`;
  return FORGE_DIALECTS[provider].apiOf({ host, base, path: path.replace(/\.git$/, '') });
}

/** Returns the text unchanged if its percent-encoding is invalid. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
