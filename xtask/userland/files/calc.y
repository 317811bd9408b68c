%{
#include <stdio.h>
#include <stdlib.h>
int yylex(void);
void yyerror(const char *message) { printf("error: %s\n", message); }
%}
%token NUMBER
%left '+' '-'
%left '*' '/'
%%
lines: | lines expression '\n' { printf("= %d\n", $2); } | lines error '\n' { yyerrok; };
expression: NUMBER
    | expression '+' expression { $$ = $1 + $3; }
    | expression '-' expression { $$ = $1 - $3; }
    | expression '*' expression { $$ = $1 * $3; }
    | '(' expression ')' { $$ = $2; };
%%
int main(void) { return yyparse(); }
