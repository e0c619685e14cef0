import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** Lets a bench import what the tests have in TypeScript: for `register` of node:module. Types are dropped, not checked. */
export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const source = await readFile(fileURLToPath(url), 'utf8');
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  return { format: 'module', shortCircuit: true, source: ts.transpileModule(source, { compilerOptions }).outputText };
}
