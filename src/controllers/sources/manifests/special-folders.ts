import type { TreeEntry } from '@berth/git-reader/repository/git-repository';
import type { Problem } from '@berth/runtime/problem/problem';

const KUSTOMIZATION = /(?:^|\/)(?:kustomization\.ya?ml|Kustomization)$/;
const CHART = /(?:^|\/)Chart\.yaml$/;

/** The code of the problem of a Helm chart. */
export const HELM_CHART = 'source.helm-chart';

/** Folders whose files are not manifests on their own. */
export interface SpecialFolders {
  /** The folder of each kustomization ('' for the root), and its kustomization file. */
  readonly kustomizations: ReadonlyMap<string, string>;
  /** Helm charts, which are refused. */
  readonly problems: readonly Problem[];
  readonly isInside: (path: string) => boolean;
}

/** Finds kustomizations and Helm charts among a tree's entries. */
export function findSpecialFolders(entries: readonly TreeEntry[]): SpecialFolders {
  const kustomizations = new Map<string, string>();
  const charts = new Map<string, string>();
  for (const { path } of entries) {
    if (isKustomization(path)) kustomizations.set(folderOf(path), path);
    else if (CHART.test(path)) charts.set(folderOf(path), path);
  }
  return {
    kustomizations,
    problems: [...charts.values()].map(chartProblem),
    isInside: (path) => {
      if (kustomizations.size + charts.size === 0) return false;
      for (let folder = folderOf(path); ; folder = folderOf(folder)) {
        if (kustomizations.has(folder) || charts.has(folder)) return true;
        if (folder === '') return false;
      }
    },
  };
}

export function isKustomization(path: string): boolean {
  return KUSTOMIZATION.test(path);
}

export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '' : path.slice(0, slash);
}

function chartProblem(file: string): Problem {
  const folder = folderOf(file);
  return {
    severity: 'error',
    code: HELM_CHART,
    message: 'got a Helm chart, which Berth does not render',
    hint: `commit the output of \`helm template\`, or exclude it with the path "!${folder === '' ? '**' : folder}"`,
    location: { file, line: 1, column: 1 },
  };
}

/** Whether a path is the place itself, or below it. '' is the root. */
export function isBelow(folder: string): (path: string) => boolean {
  return (path) => folder === '' || path === folder || path.startsWith(`${folder}/`);
}
