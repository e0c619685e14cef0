import { InputError } from '@berth/runtime/errors';
import type { CelEnvironment } from '../value/cel-environment.ts';
import type { CelNode } from '../syntax/cel-node.ts';
import { type CelProblem, celProblem } from '../value/cel-problem.ts';
import type { CelType } from '../value/cel-type.ts';
import type { CelResult, CelValue } from '../value/cel-value.ts';

/** The state of one evaluation: variables by slot, and the cost so far. */
export interface CelFrame {
  readonly slots: CelValue[];
  cost: number;
  readonly limit: number;
}

/** A node, checked and turned into a closure. Building checks the types, so one walk does both. */
export interface BuiltCel {
  readonly type: CelType;
  readonly run: (frame: CelFrame) => CelResult;
}

/** Thrown to stop the build; `compileCel` catches it. */
export class CelCompileError extends InputError {
  readonly problem: CelProblem;

  constructor(problem: CelProblem) {
    super(problem.message, { code: 'cel.compile', subject: problem.expression });
    this.problem = problem;
  }
}

interface Variable {
  readonly slot: number;
  readonly type: CelType;
}

/**
 * The names in scope at one place of an expression. Variables of macros shadow outer ones and have
 * slots of their own.
 */
export class BuildScope {
  readonly environment: CelEnvironment;
  readonly expression: string;
  private readonly variables: ReadonlyMap<string, Variable>;
  private readonly counter: { slots: number };
  private readonly used: Set<string>;

  private constructor(from: {
    readonly environment: CelEnvironment;
    readonly expression: string;
    readonly variables: ReadonlyMap<string, Variable>;
    readonly counter: { slots: number };
    readonly used: Set<string>;
  }) {
    this.environment = from.environment;
    this.expression = from.expression;
    this.variables = from.variables;
    this.counter = from.counter;
    this.used = from.used;
  }

  /** The variables of the environment take the first slots, in its order. */
  static root(environment: CelEnvironment, expression: string): BuildScope {
    const variables = new Map<string, Variable>();
    for (const [name, type] of environment.variables) variables.set(name, { slot: variables.size, type });
    const counter = { slots: variables.size };
    return new BuildScope({ environment, expression, variables, counter, used: new Set() });
  }

  find(name: string): Variable | undefined {
    const variable = this.variables.get(name);
    if (variable !== undefined && variable.slot < this.environment.variables.size) this.used.add(name);
    return variable;
  }

  /** Names of the environment's variables that the expression reads. */
  usedVariables(): ReadonlySet<string> {
    return this.used;
  }

  with(name: string, type: CelType): { scope: BuildScope; slot: number } {
    const slot = this.counter.slots++;
    const variables = new Map(this.variables).set(name, { slot, type });
    return { scope: new BuildScope({ ...this.parts(), variables }), slot };
  }

  fail(node: CelNode, message: string): never {
    throw new CelCompileError(celProblem(this.expression, node.at, message));
  }

  private parts() {
    return {
      environment: this.environment,
      expression: this.expression,
      counter: this.counter,
      used: this.used,
    };
  }
}
