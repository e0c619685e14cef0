import ts from 'typescript';

/**
 * The mutants of one source file: small changes, each of which a test of the file should notice. Found on the syntax
 * tree, so that types, imports and text stay as they are.
 *
 * @typedef {object} Mutant
 * @property {string} file
 * @property {number} line 1-based
 * @property {number} start first character that is replaced
 * @property {number} end the one behind the last
 * @property {string} text what replaces it
 * @property {string} what for people: `a < b -> a <= b`
 */

const { SyntaxKind } = ts;

const OPERATORS = new Map([
  [SyntaxKind.LessThanToken, ['<=']],
  [SyntaxKind.LessThanEqualsToken, ['<']],
  [SyntaxKind.GreaterThanToken, ['>=']],
  [SyntaxKind.GreaterThanEqualsToken, ['>']],
  [SyntaxKind.EqualsEqualsEqualsToken, ['!==']],
  [SyntaxKind.ExclamationEqualsEqualsToken, ['===']],
  [SyntaxKind.AmpersandAmpersandToken, ['||']],
  [SyntaxKind.BarBarToken, ['&&']],
  [SyntaxKind.PlusToken, ['-']],
  [SyntaxKind.MinusToken, ['+']],
  [SyntaxKind.AsteriskToken, ['/']],
  [SyntaxKind.SlashToken, ['*']],
]);
const METHODS = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['find', 'findLast'],
  ['findLast', 'find'],
]);

/** @returns {Mutant[]} in the order of the file */
export function mutantsOf(file, source) {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const mutants = [];
  const add = (node, text, shown = node) => {
    const start = node.getStart(tree);
    const end = node.getEnd();
    const line = tree.getLineAndCharacterOfPosition(start).line + 1;
    const [from, to] = [shown.getStart(tree), shown.getEnd()];
    const before = source.slice(from, to);
    const after = source.slice(from, start) + text + source.slice(end, to);
    const brief = (part) => part.replace(/\s+/g, ' ').slice(0, 90);
    mutants.push({ file, line, start, end, text, what: `${brief(before)} -> ${brief(after) || 'nothing'}` });
  };
  const visit = (node) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    changesOf(node, add);
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return mutants;
}

function changesOf(node, add) {
  if (ts.isBinaryExpression(node)) {
    for (const text of OPERATORS.get(node.operatorToken.kind) ?? []) add(node.operatorToken, text, node);
    if (node.operatorToken.kind === SyntaxKind.QuestionQuestionToken) add(node, `(${node.left.getText()})`);
  } else if (ts.isIfStatement(node)) {
    add(node.expression, 'true');
    add(node.expression, 'false');
  } else if (ts.isConditionalExpression(node)) {
    add(node.condition, 'true', node);
    add(node.condition, 'false', node);
  } else if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken) {
    add(node, `(${node.operand.getText()})`);
  } else if (ts.isNumericLiteral(node)) {
    add(node, `(${node.getText()} + 1)`, node.parent);
  } else if (node.kind === SyntaxKind.TrueKeyword) {
    add(node, 'false', node.parent);
  } else if (node.kind === SyntaxKind.FalseKeyword) {
    add(node, 'true', node.parent);
  } else if (ts.isExpressionStatement(node) || isLeaving(node)) {
    add(node, ';');
  } else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { name, expression } = node.expression;
    const other = METHODS.get(name.text);
    if (other !== undefined) add(name, other, node);
    if (name.text === 'filter') add(node, expression.getText());
  }
}

const isLeaving = (node) =>
  ts.isThrowStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node);
