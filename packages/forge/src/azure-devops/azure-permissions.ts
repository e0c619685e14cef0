import type { RepositoryPermission } from '../contract/pull-request-forge.ts';
import { ResponseFields } from '../request/response-fields.ts';
import type { ForgeApi } from '../request/forge-api.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import { API_VERSION, azureParts, azureRepositoryPath } from './azure-dialect.ts';

/** "Git Repositories" in learn.microsoft.com/azure/devops/organizations/security/namespace-reference. */
const GIT_REPOSITORIES = '2e9eb7ed-3c0a-47d4-87c1-0ffdaa275f87';
const [READ, CONTRIBUTE, MANAGE_PERMISSIONS] = [2, 4, 8192] as const;
/** Limits on groups that are members of groups, and on the identities in one request. */
const [MAX_DEPTH, MAX_GROUPS, MAX_AT_ONCE] = [8, 400, 20] as const;

/**
 * What an account may do in a repository. Azure DevOps reports the rights of others only as access control lists: of
 * the repository, of its project, and of all repositories. The nearest list that mentions a right decides. Within one
 * list, deny takes precedence over allow.
 * Source: learn.microsoft.com/rest/api/azure/devops, "Access Control Lists - Query", "Identities - Read Identities".
 */
export class AzurePermissions {
  readonly #api: ForgeApi;
  readonly #repository: ForgeRepository;
  readonly #organisation: string;

  constructor(api: ForgeApi, repository: ForgeRepository) {
    this.#api = api;
    this.#repository = repository;
    this.#organisation = azureParts(repository.repository).organisation;
  }

  /** @param account the id of the account */
  async of(account: string, signal: AbortSignal): Promise<RepositoryPermission> {
    const descriptors = await this.#descriptorsOf(account, signal);
    if (descriptors.size === 0) return 'none';
    const path = `${azureRepositoryPath(this.#repository.repository)}?${API_VERSION}`;
    const repository = await this.#api.request(signal, 'GET', path);
    const [id, project] = [repository.text('id'), repository.text('project', 'id')];
    if (id === undefined || project === undefined)
      throw this.#api.badResponse('gave no id to the repository');
    let [allowed, decided] = [0, 0];
    for (const token of [`repoV2/${project}/${id}`, `repoV2/${project}`, 'repoV2']) {
      const { allow, deny, inherits } = await this.#accessOf(token, descriptors, signal);
      allowed |= allow & ~deny & ~decided;
      decided |= allow | deny;
      if (!inherits) break;
    }
    if ((allowed & MANAGE_PERMISSIONS) !== 0) return 'admin';
    if ((allowed & CONTRIBUTE) !== 0) return 'write';
    return (allowed & READ) !== 0 ? 'read' : 'none';
  }

  /** The descriptors of the account and of all groups that it belongs to. */
  async #descriptorsOf(account: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    let pending = await this.#readIdentities(`identityIds=${encodeURIComponent(account)}`, signal, found);
    for (let depth = 0; depth < MAX_DEPTH && pending.length > 0 && found.size < MAX_GROUPS; depth++) {
      const next: string[] = [];
      for (let at = 0; at < pending.length; at += MAX_AT_ONCE) {
        const batch = pending.slice(at, at + MAX_AT_ONCE).join(',');
        next.push(...(await this.#readIdentities(`descriptors=${encodeURIComponent(batch)}`, signal, found)));
      }
      pending = next;
    }
    return found;
  }

  /**
   * Adds the identities that the query finds, and the groups that they belong to.
   * @returns the groups that are new
   */
  async #readIdentities(query: string, signal: AbortSignal, found: Set<string>): Promise<readonly string[]> {
    const { fields } = await this.#api.requestWithHeaders(signal, {
      method: 'GET',
      apiUrl: this.#repository.apiUrl.replace('https://dev.azure.com', 'https://vssps.dev.azure.com'),
      path: `/${this.#organisation}/_apis/identities?${query}&queryMembership=Direct&${API_VERSION}`,
    });
    const groups: string[] = [];
    for (const identity of new ResponseFields(fields.at('value')).list(this.#api.subject)) {
      const descriptor = identity.text('descriptor');
      if (descriptor === undefined || identity.at('isActive') === false) continue;
      found.add(descriptor);
      const memberOf = identity.at('memberOf');
      for (const group of Array.isArray(memberOf) ? memberOf : [])
        if (typeof group === 'string' && !found.has(group)) {
          found.add(group);
          groups.push(group);
        }
    }
    return groups;
  }

  async #accessOf(token: string, descriptors: ReadonlySet<string>, signal: AbortSignal) {
    const query = `token=${encodeURIComponent(token)}&recurse=false&${API_VERSION}`;
    const path = `/${this.#organisation}/_apis/accesscontrollists/${GIT_REPOSITORIES}?${query}`;
    const response = await this.#api.request(signal, 'GET', path);
    const lists = new ResponseFields(response.at('value')).list(this.#api.subject);
    const list = lists.find((one) => one.text('token')?.replace(/\/+$/, '') === token);
    let [allow, deny] = [0, 0];
    for (const descriptor of list === undefined ? [] : descriptors) {
      allow |= list?.number('acesDictionary', descriptor, 'allow') ?? 0;
      deny |= list?.number('acesDictionary', descriptor, 'deny') ?? 0;
    }
    return { allow, deny, inherits: list?.at('inheritPermissions') !== false };
  }
}
