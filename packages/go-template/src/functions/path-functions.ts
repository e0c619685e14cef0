import type { FuncMap } from '../value/go-func.ts';
import { func } from '../value/go-func.ts';
import { BOOL, STRING } from '../value/go-type.ts';

/** The package path of Go. Argo CD runs on Linux, where path/filepath does the same. */

function clean(path: string): string {
  const isRooted = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    const isUp = part === '..';
    if (isUp && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!isUp || !isRooted) parts.push(part);
  }
  const joined = parts.join('/');
  if (isRooted) return `/${joined}`;
  return joined === '' ? '.' : joined;
}

function base(path: string): string {
  if (path === '') return '.';
  const trimmed = path.replace(/\/+$/, '');
  return trimmed === '' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

function dir(path: string): string {
  return clean(path.slice(0, path.lastIndexOf('/') + 1));
}

function ext(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
}

const FUNCTIONS = [
  ['base', func([STRING], STRING, base)],
  ['dir', func([STRING], STRING, dir)],
  ['clean', func([STRING], STRING, clean)],
  ['ext', func([STRING], STRING, ext)],
  ['isAbs', func([STRING], BOOL, (path) => path.startsWith('/'))],
] as const;

/**
 * The functions of sprig for paths: base, dir, clean, ext and isAbs, and the same with the prefix
 * os.
 */
export const PATH_FUNCTIONS: FuncMap = new Map([
  ...FUNCTIONS,
  ...FUNCTIONS.map(([name, fun]) => [`os${name.charAt(0).toUpperCase()}${name.slice(1)}`, fun] as const),
]);
