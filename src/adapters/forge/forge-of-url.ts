import { DIALECTS } from './dialects.ts';
import type { ForgeRepository } from './request/forge-repository.ts';

/**
 * What a repository's URL suggests about the API of its forge: where it is and how it calls the repository. Undefined for an address
 * that is no URL (a path), and for a forge with an API that is not known here.
 */
export function forgeOfUrl(
  provider: ForgeRepository['provider'],
  url: string,
): Pick<ForgeRepository, 'apiUrl' | 'repository'> | undefined {
  const scp = /^(?:[^@/:]+@)?([^/:@]+):(?!\/\/)(.+)$/.exec(url);
  const parsed = scp === null && URL.canParse(url) ? new URL(url) : undefined;
  const host = scp?.[1] ?? parsed?.host ?? '';
  const place = (scp?.[2] ?? unescaped(parsed?.pathname ?? '')).replace(/^\/+|\/+$/g, '');
  if (host === '' || place === '') return undefined;
  // The port of ssh says nothing about https.
  const base = `https://${parsed?.protocol === 'ssh:' ? (parsed.hostname ?? host) : host}`;
  return DIALECTS[provider].address({ host, base, path: place.replace(/\.git$/, '') });
}

/** As it is written when it is no escaped text at all. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
