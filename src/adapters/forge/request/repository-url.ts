/**
 * Whether the event of a forge is about the repository with this address. A repository that the forge names without an
 * address is matched by the end of its path.
 */
export function concernsRepository(
  event: { readonly repositoryUrls: readonly string[]; readonly repositoryName?: string | undefined },
  url: string,
): boolean {
  const { repositoryUrls, repositoryName } = event;
  if (repositoryUrls.length > 0) return repositoryUrls.some((known) => sameRepository(known, url));
  if (repositoryName === undefined) return false;
  return repositoryKey(url)?.endsWith(`/${repositoryName.toLowerCase()}`) === true;
}

/**
 * Whether two addresses name the same repository. `https://Forge.example/team/fleet.git`,
 * `ssh://git@forge.example/team/fleet` and `git@forge.example:team/fleet.git` do. Scheme, user, port, the case of the
 * host and a trailing `.git` are ignored.
 */
export function sameRepository(a: string, b: string): boolean {
  const left = repositoryKey(a);
  return left !== undefined && left === repositoryKey(b);
}

/** Text that is equal for addresses of the same repository; undefined if it is not an address. */
function repositoryKey(text: string): string | undefined {
  const scp = /^(?:[^@/:]+@)?([^/:@]+):(?!\/\/)(.+)$/.exec(text);
  if (scp !== null) return keyOf(scp[1] ?? '', scp[2] ?? '');
  if (URL.canParse(text)) {
    const url = new URL(text);
    return keyOf(url.hostname, decoded(url.pathname));
  }
  return text.startsWith('/') ? keyOf('', text) : undefined;
}

function keyOf(host: string, path: string): string {
  const plain = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  // Azure DevOps writes ssh paths as v3/org/project/repo and https ones as org/project/_git/repo.
  // Bitbucket Data Center writes https paths as scm/project/repo and ssh ones as project/repo.
  const normalized = plain.replace(/^(?:v3|scm)\//, '').replace('/_git/', '/');
  return `${host.toLowerCase().replace(/^ssh\./, '')}/${normalized.toLowerCase()}`;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
