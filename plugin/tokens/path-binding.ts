import type { Binding } from './token-grant.ts';

/** Valid names in Kubernetes. */
const NAME = /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/;
/**
 * Common misspellings of `namespaces` and `clustersets`: ignoring them would leave the path
 * unrestricted.
 */
const MISSPELT = /^(name-?spaces?|cluster-?sets?)$/i;

export type ParsedPath =
  | { readonly ok: true; readonly binding: Binding }
  | { readonly ok: false; readonly message: string };

/**
 * The restriction of a request by the path of its `baseUrl`, in addition to its token:
 * `/namespaces/team-a,team-b` and `/clustersets/gpu`, each once, in any order. Other parts of the
 * path (of a proxy) are ignored.
 * @param path before `/api/v1/getparams.execute`
 */
export function parsePathBinding(path: string): ParsedPath {
  const parts = path.split('/');
  const bound = new Map<string, ReadonlySet<string>>();
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? '';
    if (!MISSPELT.test(part)) continue;
    if (part !== 'namespaces' && part !== 'clustersets')
      return refuse(`the path of baseUrl has ${part}, expected namespaces or clustersets`);
    const names = (parts[at + 1] ?? '').split(',');
    const wrong = names.find((name) => !NAME.test(name));
    if (wrong !== undefined)
      return refuse(
        `the path of baseUrl has ${JSON.stringify(wrong)} after ${part}, expected names separated by commas`,
      );
    if (bound.has(part)) return refuse(`the path of baseUrl has ${part} twice, expected it once`);
    bound.set(part, new Set(names));
    at += 1;
  }
  return {
    ok: true,
    binding: {
      namespaces: bound.get('namespaces') ?? 'any',
      clusterSets: bound.get('clustersets') ?? 'any',
    },
  };
}

function refuse(message: string): ParsedPath {
  return { ok: false, message };
}
