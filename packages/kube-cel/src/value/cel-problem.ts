/** Why an expression does not compile. Line and column count from 1, inside the expression. */
export interface CelProblem {
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly expression: string;
}

/** @param offset UTF-16 offset into the expression */
export function celProblem(expression: string, offset: number, message: string): CelProblem {
  const before = expression.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return {
    message,
    line: before.split('\n').length,
    column: [...before.slice(lineStart)].length + 1,
    expression,
  };
}

/** Two or three lines: the text, the source line and a caret under the position. */
export function celProblemText(problem: CelProblem): string {
  const line = problem.expression.split('\n')[problem.line - 1] ?? '';
  const place = `<input>:${problem.line}:${problem.column}`;
  const caret = `${'.'.repeat(problem.column - 1)}^`;
  return `compilation failed: ERROR: ${place}: ${problem.message}\n | ${line}\n | ${caret}`;
}
