import { type Node, nodeText, type Template } from '../parse/node.ts';
import { quote } from '../text/quote.ts';
import { GoError, Refusal } from '../value/go-error.ts';
import type { FuncMap } from '../value/go-func.ts';
import type { Value } from '../value/go-type.ts';

/** What happens if a map has no entry for a field: the option `missingkey`. */
export type MissingKey = 'default' | 'zero' | 'error';

/** What all templates of one rendering share. */
export interface Program {
  /** The name of the main template. All positions in errors start with it. */
  readonly name: string;
  /** The text as a byte string, for positions in errors. */
  readonly text: string;
  readonly templates: ReadonlyMap<string, Template>;
  /**
   * The functions in addition to the built-in ones. They replace built-in ones with the same name.
   */
  readonly functions: FuncMap;
  /** Functions that need to know the program. */
  readonly own: FuncMap;
  readonly builtins: FuncMap;
  readonly missingKey: MissingKey;
}

/** One template that is running (text/template/exec.go calls it state). */
export class Run {
  readonly program: Program;
  readonly depth: number;
  readonly scope: Scope;
  readonly #template: Template;
  /** The node that is being evaluated, for errors. */
  at: Node | undefined;

  constructor(program: Program, template: Template, [dollar, depth]: readonly [Value | undefined, number]) {
    this.program = program;
    this.#template = template;
    this.scope = new Scope(dollar);
    this.depth = depth;
  }

  /** @throws GoError always */
  fail(text: string): never {
    throw new GoError(this.#located(text));
  }

  /** @throws Refusal always; Argo CD would render this */
  refuse(text: string): never {
    throw new Refusal(this.#located(text));
  }

  #located(text: string): string {
    const { name } = this.program;
    const { name: own, text: whole = this.program.text } = this.#template;
    if (this.at === undefined) return `template: ${own}: ${text}`;
    const before = whole.slice(0, this.at.pos);
    const line = before.split('\n').length;
    const column = this.at.pos - (before.lastIndexOf('\n') + 1);
    const where = `template: ${name}:${line}:${column}: executing ${quote(own)}`;
    return `${where} at <${nodeText(this.at)}>: ${text}`;
  }
}

/** The variables of a template that is running: a stack, the newest last. */
class Scope {
  readonly #variables: { readonly name: string; value: Value | undefined }[];

  constructor(dollar: Value | undefined) {
    this.#variables = [{ name: '$', value: dollar }];
  }

  get size(): number {
    return this.#variables.length;
  }

  /** Removes the variables that were added after the stack had this size. */
  cutTo(size: number): void {
    this.#variables.length = size;
  }

  push(name: string, value: Value | undefined): void {
    this.#variables.push({ name, value });
  }

  /** @returns whether the variable exists */
  assign(name: string, value: Value | undefined): boolean {
    const variable = this.#variables.findLast((known) => known.name === name);
    if (variable !== undefined) variable.value = value;
    return variable !== undefined;
  }

  /** Sets the variable that is `fromTop` from the end: 1 is the last. */
  setTop(fromTop: number, value: Value | undefined): void {
    const variable = this.#variables.at(-fromTop);
    if (variable !== undefined) variable.value = value;
  }

  find(name: string): { readonly value: Value | undefined } | undefined {
    return this.#variables.findLast((known) => known.name === name);
  }
}
