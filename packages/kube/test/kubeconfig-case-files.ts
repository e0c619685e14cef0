import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KubeconfigCase } from './kubeconfig-cases.ts';

/**
 * Writes the files of a case.
 * @returns the folder, and the variables that lead to the files
 */
export function writeCase({ files, list }: KubeconfigCase): { folder: string; env: NodeJS.ProcessEnv } {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-kubeconfigs-'));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const inFolder = (entry: string): string => (entry === '' ? '' : path.join(folder, entry));
  const KUBECONFIG = list?.split(path.delimiter).map(inFolder).join(path.delimiter);
  return {
    folder,
    env: { HOME: path.join(folder, 'home'), ...(KUBECONFIG !== undefined && { KUBECONFIG }) },
  };
}
