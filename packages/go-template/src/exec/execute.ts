import { Printer } from '../fmt/printer.ts';
import { sprint } from '../fmt/sprintf.ts';
import type { BranchNode, ListNode, StatementNode, TemplateNode } from '../parse/node.ts';
import { quote } from '../text/quote.ts';
import type { GoMap } from '../value/go-map.ts';
import { INT, isInteger, isUnsigned, STRING, type Value } from '../value/go-type.ts';
import { checkLength, spend } from '../value/work.ts';
import { evaluatePipe } from './evaluate.ts';
import { type Program, Run } from './run.ts';
import { isTrue, unwrap } from './collections.ts';

/**
 * How deep templates may call templates. Go stops at 100,000 and reports it. Only an endless
 * template gets that deep. Berth stops earlier but uses the text of Go, because Argo CD reports
 * this text for such a template.
 */
const MAX_CALLS = 800;

/** The effect of a statement on the loop around it. `none`: the loop continues normally. */
type Outcome = 'none' | 'break' | 'continue';

/**
 * Runs a template (text/template/exec.go).
 * @throws GoError with Go's text
 */
export function execute(program: Program, data: Value | undefined): string {
  return new Execution(program).main(data);
}

class Execution {
  readonly #program: Program;
  #written = 0;
  readonly #parts: string[] = [];

  constructor(program: Program) {
    this.#program = program;
  }

  main(data: Value | undefined): string {
    const { name, templates } = this.#program;
    const template = templates.get(name);
    if (template === undefined) return '';
    this.#list(new Run(this.#program, template, [data, 0]), data, template.root);
    return this.#parts.join('');
  }

  #write(text: string): void {
    this.#written += text.length;
    checkLength(this.#written);
    spend(1 + (text.length >> 3));
    this.#parts.push(text);
  }

  #list(run: Run, dot: Value | undefined, list: ListNode): Outcome {
    run.at = list;
    for (const node of list.nodes) {
      const outcome = this.#statement(run, dot, node);
      if (outcome !== 'none') return outcome;
    }
    return 'none';
  }

  #statement(run: Run, dot: Value | undefined, node: StatementNode): Outcome {
    run.at = node;
    switch (node.kind) {
      case 'text':
        this.#write(node.text);
        return 'none';
      case 'action': {
        const value = evaluatePipe({ run, dot }, node.pipe);
        run.at = node;
        if (node.pipe.decl.length === 0) this.#write(printValue(value));
        return 'none';
      }
      case 'break':
      case 'continue':
        return node.kind;
      case 'range':
        return this.#range(run, dot, node);
      case 'template':
        return this.#call(run, dot, node);
      default:
        return this.#branch(run, dot, node);
    }
  }

  #branch(run: Run, dot: Value | undefined, node: BranchNode): Outcome {
    const { size } = run.scope;
    const value = evaluatePipe({ run, dot }, node.pipe);
    let outcome: Outcome = 'none';
    if (isTrue(value)) outcome = this.#list(run, node.kind === 'with' ? value : dot, node.list);
    else if (node.elseList !== undefined) outcome = this.#list(run, dot, node.elseList);
    run.scope.cutTo(size);
    return outcome;
  }

  #range(run: Run, dot: Value | undefined, node: BranchNode): Outcome {
    const { size } = run.scope;
    const value = unwrap(evaluatePipe({ run, dot }, node.pipe));
    const inner = run.scope.size;
    let any = false;
    for (const [index, element] of steps(run, node, value)) {
      any = true;
      spend(1);
      setLoopVariables(run, node, [index, element]);
      const outcome = this.#list(run, element, node.list);
      run.scope.cutTo(inner);
      if (outcome === 'break') break;
    }
    const outcome = any || node.elseList === undefined ? 'none' : this.#list(run, dot, node.elseList);
    run.scope.cutTo(size);
    // As in Go, a break in the else branch ends only this loop.
    return outcome === 'break' ? 'none' : outcome;
  }

  #call(run: Run, dot: Value | undefined, node: TemplateNode): Outcome {
    const template = this.#program.templates.get(node.name);
    if (template === undefined) return run.fail(`template ${quote(node.name)} not defined`);
    if (run.depth >= MAX_CALLS) run.fail('exceeded maximum template depth (100000)');
    const data = node.pipe === undefined ? undefined : evaluatePipe({ run, dot }, node.pipe);
    this.#list(new Run(this.#program, template, [data, run.depth + 1]), data, template.root);
    return 'none';
  }
}

function printValue(value: Value | undefined): string {
  if (value === undefined) return '<no value>';
  if (value.type === STRING) return value.data as string;
  return sprint([value]);
}

type Step = readonly [index: Value | undefined, element: Value];

/** The steps of a range. An integer counts from 0 and has no separate index. */
function* steps(run: Run, node: BranchNode, value: Value | undefined): Generator<Step> {
  if (value === undefined) return;
  const { type } = value;
  if (isInteger(value) || isUnsigned(value)) {
    if (node.pipe.decl.length > 1) run.fail(`can't use ${value.data} to iterate over more than one variable`);
    for (let count = 0n; count < value.data; count++) yield [undefined, { type, data: count }];
    return;
  }
  const elem = type.elem ?? type;
  if (type.kind === 'slice') {
    const list = (value.data as readonly unknown[] | null) ?? [];
    for (const [index, data] of list.entries())
      yield [
        { type: INT, data: BigInt(index) },
        { type: elem, data },
      ];
  } else if (type.kind === 'map') {
    for (const [key, data] of (value.data as GoMap | null)?.entries() ?? [])
      yield [
        { type: STRING, data: key },
        { type: elem, data },
      ];
  } else {
    const printer = new Printer();
    printer.printArg(value, 'v');
    run.fail(`range can't iterate over ${printer.text}`);
  }
}

function setLoopVariables(run: Run, { pipe }: BranchNode, [index, element]: Step): void {
  const [first, second] = pipe.decl.map(({ ident }) => ident[0] ?? '');
  if (first === undefined) return;
  if (!pipe.isAssign) {
    run.scope.setTop(1, element);
    if (second !== undefined) run.scope.setTop(2, index);
    return;
  }
  run.scope.assign(first, second === undefined ? element : index);
  if (second !== undefined) run.scope.assign(second, element);
}
