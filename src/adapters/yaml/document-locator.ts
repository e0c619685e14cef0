import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import type { Document, LineCounter, Node, Pair } from 'yaml';
import type { FieldPath } from '@berth/kube/model/field-path';
import { resolvePlainScalar, UnrepresentableScalarError } from '@berth/kube/yaml/kubectl-schema';

/** Line and column, from 1, within the text of the document. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface SyntaxFinding extends Position {
  readonly code: string;
  readonly message: string;
}

const require = createRequire(import.meta.url);
let loaded: typeof Yaml | undefined;

/** Loaded when it is first needed, so that a start without errors does not load its 73 modules. */
function yaml(): typeof Yaml {
  return (loaded ??= require('yaml') as typeof Yaml);
}

/**
 * Positions of everything in one document, through the `yaml` package: ten times slower than
 * js-yaml, so it is used only for documents with problems.
 */
export class DocumentLocator {
  readonly #lines: LineCounter;
  readonly #document: Document.Parsed;

  constructor(text: string) {
    this.#lines = new (yaml().LineCounter)();
    this.#document = yaml().parseDocument(text, {
      lineCounter: this.#lines,
      prettyErrors: false,
      merge: true,
      logLevel: 'silent',
      keepSourceTokens: false,
    });
  }

  /** All distinct syntax errors, in order. */
  errors(): SyntaxFinding[] {
    const { errors, warnings } = this.#document;
    // Unknown tags are warnings in the library, but errors here.
    const found = (errors.length > 0 ? errors : warnings).map((error) => ({
      code: error.code,
      message: error.message,
      ...this.#positionAt(error.pos[0]),
    }));
    // A second error at the same place is only a consequence of the first.
    return found.filter(({ line, column }, index) => {
      const first = found.findIndex((other) => other.line === line && other.column === column);
      return first === index;
    });
  }

  /** The position of the first key or value of the document. */
  start(): Position {
    return this.#positionAt(this.#document.contents?.range?.[0] ?? 0);
  }

  /** The position of the field, or, if it is missing, that of the nearest enclosing one. */
  locate(path: FieldPath, at: 'key' | 'value'): Position {
    let node: unknown = this.#document.contents;
    let keyOffset: number | undefined;
    for (const part of path) {
      const step = this.#step(node, part);
      if (step === undefined) return this.#positionAt(keyOffset ?? startOf(node) ?? 0);
      node = step.value;
      keyOffset = step.keyOffset;
    }
    const offset = at === 'key' ? (keyOffset ?? startOf(node)) : (startOf(node) ?? keyOffset);
    return this.#positionAt(offset ?? 0);
  }

  #step(node: unknown, part: string | number): { value: unknown; keyOffset: number | undefined } | undefined {
    const target = yaml().isAlias(node) ? node.resolve(this.#document) : node;
    if (yaml().isSeq(target)) {
      const item: unknown = target.items[Number(part)];
      return item === undefined ? undefined : { value: item, keyOffset: startOf(item) };
    }
    if (!yaml().isMap(target)) return undefined;
    const pair = target.items.find((candidate) => keyText(candidate) === String(part));
    if (pair !== undefined) return { value: pair.value, keyOffset: startOf(pair.key) };
    return this.#stepIntoMerge(target.items, part);
  }

  #stepIntoMerge(pairs: readonly Pair[], part: string | number) {
    for (const pair of pairs) {
      if (!yaml().isScalar(pair.key) || pair.key.source !== '<<') continue;
      const sources = yaml().isSeq(pair.value) ? pair.value.items : [pair.value];
      for (const source of sources) {
        const step = this.#step(source, part);
        if (step !== undefined) return step;
      }
    }
    return undefined;
  }

  #positionAt(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    // Line 0 means that nothing was parsed. Then every position is the start.
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null)?.range?.[0];
}

/** The key as kubectl reads it: an unquoted `n` is the key "false". */
function keyText(pair: Pair): string | undefined {
  const { key } = pair;
  if (!yaml().isScalar(key)) return undefined;
  if (key.type !== 'PLAIN' || key.source === undefined) return String(key.value);
  try {
    return String(resolvePlainScalar(key.source));
  } catch (error) {
    if (error instanceof UnrepresentableScalarError) return key.source;
    throw error;
  }
}
