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
 * `ssh://git@forge.example/team/fleet` and `git@forge.example:team/fleet.git` do. Scheme, user, port, case and a
 * trailing `.git` are ignored.
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
  const plain = path
    .toLowerCase()
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/, '');
  // Forges have a second host for ssh on port 443: ssh.github.com, altssh.gitlab.com, altssh.bitbucket.org.
  const name = host.toLowerCase().replace(/^(?:alt)?ssh\./, '');
  // Bitbucket Data Center writes https paths as scm/project/repo and ssh ones as project/repo; Azure DevOps Server writes
  // _git before the repository, but not for ssh.
  return azureKey(name, plain) ?? `${name}/${plain.replace(/^scm\//, '').replace('/_git/', '/')}`;
}

/**
 * Azure DevOps has two hosts, and paths of https and of ssh: dev.azure.com/org/project/_git/repo,
 * org.visualstudio.com/DefaultCollection/project/_git/repo, and v3/org/project/repo at either. The project is left out
 * where the repository has its name.
 */
function azureKey(host: string, path: string): string | undefined {
  const parts = path.replace(/^v3\//, '').split('/');
  const older = /^([^.]+)\.visualstudio\.com$/.exec(host)?.[1];
  if (older !== undefined && older !== 'vs-ssh') parts.unshift(older);
  else if (host !== 'dev.azure.com' && older === undefined) return undefined;
  const [organization, ...rest] = parts.filter((part) => part !== 'defaultcollection');
  const names = rest.filter((part) => part !== '_git');
  const [project, repository = project] = names;
  return ['dev.azure.com', organization, project, repository].join('/');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
