import type { CommitStatusTarget } from './commit-status.ts';

/**
 * What a repository's URL suggests about the API of its forge: where it is and how it calls the repository. Undefined for an address
 * that is no URL (a path), and for a forge with an API that is not known here.
 */
export function forgeOfUrl(
  provider: CommitStatusTarget['provider'],
  url: string,
): Pick<CommitStatusTarget, 'apiUrl' | 'repository'> | undefined {
  const scp = /^(?:[^@/:]+@)?([^/:@]+):(?!\/\/)(.+)$/.exec(url);
  const parsed = scp === null && URL.canParse(url) ? new URL(url) : undefined;
  const host = scp?.[1] ?? parsed?.host ?? '';
  const place = (scp?.[2] ?? unescaped(parsed?.pathname ?? '')).replace(/^\/+|\/+$/g, '');
  if (host === '' || place === '') return undefined;
  // The port of ssh says nothing about https.
  const base = `https://${parsed?.protocol === 'ssh:' ? (parsed.hostname ?? host) : host}`;
  const repository = place.replace(/\.git$/, '');
  switch (provider) {
    case 'github':
      return { apiUrl: host === 'github.com' ? 'https://api.github.com' : `${base}/api/v3`, repository };
    case 'gitlab':
      return { apiUrl: `${base}/api/v4`, repository };
    case 'gitea':
      return { apiUrl: `${base}/api/v1`, repository };
    case 'bitbucket':
      // Data Center has another API, which takes no statuses like these.
      return host === 'bitbucket.org' ? { apiUrl: 'https://api.bitbucket.org/2.0', repository } : undefined;
    case 'azure-devops':
      return {
        apiUrl: 'https://dev.azure.com',
        repository: place.replace(/^v3\//, '').replace('/_git/', '/'),
      };
  }
}

/** As it is written when it is no escaped text at all. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
